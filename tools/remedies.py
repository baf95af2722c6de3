"""What to do when the machine says no: full disk, no permission, no network.

Needs the standard library alone: the set-up uses it before anything is installed.
"""

import re

__all__ = ["remedy"]

# Patterns in what programs and the system say, the more certain causes first.
REMEDIES = (
    (
        r"No space left on device|Disk quota exceeded|os error (28|122)",
        "The disk is full. Free some space (.venv takes 1.2 GB, build/ 100 MB; `df -h .` shows "
        "what is left), then give the same command again.",
    ),
    (
        r"Read-only file system|os error 30",
        "The project lies on a read-only file system. Copy it to a folder that can be written, "
        "and work there.",
    ),
    (
        r"Permission denied|Operation not permitted|os error (1|13)\b",
        "A folder or file belongs to another user or is write-protected (`ls -la` shows whose it "
        'is). Take it back, as with `sudo chown -R "$USER" .`, or work in a clone of your own.',
    ),
    (
        r"(?i)hash mismatch|do not match the hashes",
        "A package is not the file that was locked; nothing of it was installed. A broken "
        "download or a mirror that changes files does that: give the same command again with "
        "UV_NO_CACHE=1, and if that does not help without the mirror.",
    ),
    (
        r"(?i)certificate|UnknownIssuer",
        "The package index shows a certificate that is not trusted here. Name the certificates of "
        "your network, as in SSL_CERT_FILE=/path/ca.pem PIP_CERT=/path/ca.pem, and try again.",
    ),
    (
        r"(?i)dns error|error sending request|name resolution|connection (refused|reset)|"
        r"newconnectionerror|timed out|timeout|unreachable|(could not|failed to) (connect|fetch|"
        r"download|find a version)|no matching distribution|not found in the package registry",
        "The package index was not reached. Check the network, the proxy (HTTPS_PROXY) and the "
        "address of the index (PIP_INDEX_URL, UV_DEFAULT_INDEX), then give the same command "
        "again; finished steps are kept.",
    ),
)


def remedy(said: str) -> str | None:
    """What to do about what a program, or an error of the system, has said; None if unknown."""
    return next((text for pattern, text in REMEDIES if re.search(pattern, said)), None)
