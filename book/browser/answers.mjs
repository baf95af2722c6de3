// Answers the exercises and the predictions of a page as a reader does who has a keyboard, and tells
// where a page does not take the right answer, does not name a known mistake, does not lead to the
// words that answer, or shows what it should keep.
const SILENCE = 5000; // milliseconds in which a verdict has to follow
const UNREADABLE = "Not yet. That cannot be read: write numbers, separated by commas.";

export async function answerExercises(page, say) {
  for (const form of await page.locator("form.answer").all()) {
    const { key, name } = await form.evaluate((node) => ({
      key: globalThis.kernelbookAnswers.decode(node.dataset.answer),
      name: node.querySelector("input").id,
    }));
    const complain = (text) => say(`${name}: ${text}`);
    if (key.refusal) await predict(page, form, key, complain);
    else await solve(page, form, key, complain);
  }
}

async function solve(page, form, key, complain) {
  const shown = await page.locator("main").innerText();
  if ([key.otherwise, ...key.mistakes.map(([, words]) => words)].some((words) => shown.includes(words))) {
    complain("shows its key before there is an answer");
  }
  const input = form.getByRole("textbox", { name: /^Your answer to/ });
  const expect = answering(page, form, input, complain);
  await expect("?", UNREADABLE);
  for (const [wrong, words] of key.mistakes) await expect(wrong, `Not yet. ${words}`);
  await expect(key.right, "✓ right");
  await input.focus();
  await followedByButton(page, complain);
}

// Every choice, or two wrong numbers and the right one; then on to the words that answer.
async function predict(page, form, key, complain) {
  const place = form.locator(".answer-place");
  if (await place.isVisible()) complain("tells where the answer is before there is a prediction");
  const where = await place.textContent();
  const told = (words) => `${words} ${where}`;
  if (key.choices.length) {
    await expectVerdict(page, form, complain, "no choice", "not answered yet", () => (
      form.getByRole("button").press("Enter")));
    for (const [position, choice] of key.choices.entries()) {
      await expectVerdict(page, form, complain, choice, told(choice === key.right ? "✓ right" : key.refusal),
        () => choose(page, form, position));
    }
    await choose(page, form, key.choices.indexOf(key.right));
  } else {
    const expect = answering(page, form, form.getByRole("textbox", { name: "Your prediction" }), complain);
    await expect("?", UNREADABLE);
    for (const side of [-2, 2]) await expect(key.right + side * key.atol, told(key.refusal));
    await expect(key.right, told("✓ right"));
    await form.getByRole("textbox").focus();
  }
  await followedByButton(page, complain);
  await page.waitForTimeout(100); // the verdict is said again, with its link
  await page.keyboard.press("Tab");
  const reached = await page.evaluate(() => document.activeElement.className);
  if (reached !== "answer-place") complain("has a link that the keyboard does not reach");
  await page.keyboard.press("Enter");
  const target = page.locator(await place.getAttribute("href"));
  await target.waitFor({ timeout: SILENCE }).catch(() => complain("leads to what is not to be seen"));
}

// From the first button on, by arrows.
async function choose(page, form, position) {
  await form.getByRole("radio").first().focus();
  await page.keyboard.press("Space");
  for (let step = 0; step < position; step += 1) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
}

function answering(page, form, input, complain) {
  return (answer, words) => expectVerdict(page, form, complain, answer, words, async () => {
    await input.fill("");
    await input.focus();
    await page.keyboard.type(typeof answer === "string" ? answer : [answer].flat().join(", "));
    await page.keyboard.press("Enter");
  });
}

async function expectVerdict(page, form, complain, answer, words, act) {
  await act();
  await page.waitForFunction(([node, wanted]) => node.textContent === wanted,
    [await form.locator("output").elementHandle(), words], { timeout: SILENCE })
    .catch(() => complain(`does not say "${words}" to ${answer}`));
}

async function followedByButton(page, complain) {
  await page.keyboard.press("Tab");
  const next = await page.evaluate(() => document.activeElement.textContent);
  if (next !== "Check") complain(`is followed by "${next}" and not by its button`);
}
