/** Settings of git that run programs or decide where data goes. */
import { isLoginKey, isRunningKey } from "@tau/sandbox/internal";
import { runCode } from "../code/run-code.ts";
import { baseName } from "../paths.ts";
import { isProgram } from "../programs/index.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { isKnown, type Text } from "../shell/text.ts";

/** Programs that git itself names: for signatures, differences and stored logins. */
const otherPrograms =
  /^(?:gpg|gpg2|meld|vimdiff|nvimdiff|kdiff3|diff-highlight|simple|osxkeychain|cache|store|manager|manager-core|libsecret|wincred)$/;

/** `once`: given with `git -c` for one call. `always`: stored. */
export function judgeConfig(key: string, value: Text, scope: Scope, duration: "once" | "always"): void {
  if (!isKnown(key)) {
    report(scope, "medium", "persistence", "The setting of git is not known before it runs.");
    return;
  }
  if (!isRunningKey(key)) return;
  const text = value.text.trim();
  if (text === "" || /^(?:true|false|0|1|yes|no|on|off|auto|never|always|keep)$/i.test(text)) {
    const isWeaker = /^http\..*sslverify$/i.test(key) && /^(?:false|0|no|off)$/i.test(text);
    if (isWeaker) report(scope, "high", "credential_change", "git stops checking certificates.");
    return;
  }
  const isAlias = /^alias\./i.test(key);
  if (isAlias && !text.startsWith("!")) return;
  const isCredential = isLoginKey(key);
  if (
    /^(?:safe\.directory|ssh\.variant|url\..+\.pushinsteadof|fsck\.|receive\.)/i.test(key) ||
    (/^url\..+\.insteadof$/i.test(key) &&
      /^(?:url\.(?:https:\/\/|git@|ssh:\/\/git@))(?:github|gitlab|bitbucket)\.(?:com|org)/i.test(key))
  ) {
    report(scope, "medium", isCredential ? "credential_change" : "persistence", `It sets ${key} of git.`);
    return;
  }
  const [program = ""] = text.split(/\s/);
  const isPlain =
    (isProgram(baseName(program), "viewer") || otherPrograms.test(baseName(program))) &&
    !/[;|&`$<>(!]|ProxyCommand|LocalCommand|KnownHostsCommand|PKCS11|\s(?:-F|-c|--cmd|--eval|-S|-u)\b/i.test(text);
  if (isPlain && !/hookspath|fsmonitor|include/i.test(key)) {
    if (isCredential && duration === "always") report(scope, "high", "credential_change", `It sets ${key} of git.`);
    return;
  }
  report(
    scope,
    "high",
    isCredential ? "credential_change" : "persistence",
    `It sets ${key} of git, which runs ${text.slice(0, 80)}.`,
  );
  const isCommand = !/hookspath|templatedir|include|^http|^url|attributesfile|proxy$/i.test(key) && isKnown(text);
  if (isCommand) runCode({ ...value, text: text.replace(/^!/, "") }, [], { ...scope, state: scope.state.clone() });
}
