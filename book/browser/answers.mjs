// Answers the exercises of a page as a reader does who has a keyboard, and tells where a page does
// not take the right answer, does not name a known mistake, or shows what it should keep.
const SILENCE = 5000; // milliseconds in which a verdict has to follow

export async function answerExercises(page, say) {
  for (const form of await page.locator("form.answer").all()) {
    const { key, name } = await form.evaluate((node) => ({
      key: globalThis.kernelbookAnswers.decode(node.dataset.answer),
      name: node.querySelector("input").id,
    }));
    const complain = (text) => say(`${name}: ${text}`);
    const shown = await page.locator("main").innerText();
    if ([key.otherwise, ...key.mistakes.map(([, words]) => words)].some((words) => shown.includes(words))) {
      complain("shows its key before there is an answer");
    }
    const input = form.getByRole("textbox", { name: /^Your answer to/ });
    const expect = async (answer, words) => {
      await input.fill("");
      await input.focus();
      await page.keyboard.type(typeof answer === "string" ? answer : [answer].flat().join(", "));
      await page.keyboard.press("Enter");
      await page.waitForFunction(([node, wanted]) => node.textContent === wanted,
        [await form.locator("output").elementHandle(), words], { timeout: SILENCE })
        .catch(() => complain(`does not say "${words}" to ${answer}`));
    };
    await expect("?", "Not yet. That cannot be read: write numbers, separated by commas.");
    for (const [wrong, words] of key.mistakes) await expect(wrong, `Not yet. ${words}`);
    await expect(key.right, "✓ right");
    await input.focus();
    await page.keyboard.press("Tab");
    const next = await page.evaluate(() => document.activeElement.textContent);
    if (next !== "Check") complain(`is followed by "${next}" and not by its button`);
  }
}
