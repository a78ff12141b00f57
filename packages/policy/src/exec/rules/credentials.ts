/** Passwords, keys and stored logins. */
import { getOperands, type Judge } from "./invocation.ts";
import { runOption } from "./option-code.ts";
import { parseOptions } from "./options.ts";
import { report } from "../shell/analysis.ts";
import { known, origins, unknown } from "../shell/text.ts";
import { judgeWrites } from "./write.ts";

export const sshKeygen: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  const onlyVerifies = options.get("Y").some(({ text }) => /^(?:verify|check-|find-|match-)/.test(text));
  if (onlyVerifies || options.has("l", "B", "y", "F", "L", "e", "i", "Q", "r")) return;
  if (options.has("R")) {
    report(scope, "medium", "credential_change", "It changes the list of known hosts.");
    return;
  }
  const files = options.get("f");
  judgeWrites(files.length > 0 ? files : [known("~/.ssh/id_ed25519")], scope);
};

export const gpg: Judge = ({ args }, scope) => {
  const texts = args.map(({ text }) => text);
  args.forEach(({ text }, index) => {
    const match = /^--(?:photo-viewer|agent-program|dirmngr-program|keyboxd-program|exec-path)(?:=(.*))?$/s.exec(text);
    const program = match?.[1] === undefined ? (match ? args[index + 1] : undefined) : known(match[1]);
    if (program) runOption(program, scope);
  });
  if (texts.some((text) => text.startsWith("--export-secret"))) {
    report(scope, "high", "exfiltration", "It exports a private key.");
    return [unknown(origins.credential)];
  }
  if (
    texts.some((text) =>
      /^--(?:import|delete|gen-key|full-gen|quick-|edit-key|recv|sign-key|trust|passwd|change-pass)/.test(text),
    )
  )
    report(scope, "high", "credential_change", "It changes the keys of the user.");
  return undefined;
};

/** Stores of passwords and secrets. */
export const passwordStore: Judge = ({ name, args }, scope) => {
  const [verb, second] = getOperands(args).map(({ text }) => text);
  const call = `${verb} ${second}`;
  if (/^(?:kv|item|vault|account|secrets|auth|policy) (?:list|ls)$/.test(call)) return undefined;
  if (
    /^(?:show|get|read|item|lookup|find-generic-password|find-internet-password|dump-keychain|print|export|search|otp|grep|kv)$/.test(
      verb ?? "",
    ) ||
    (name === "pass" && verb && !/^(?:ls|list|version|help|find)$/.test(verb))
  ) {
    report(scope, "high", "exfiltration", `${name} reads stored credentials.`);
    return [unknown(origins.credential)];
  }
  if (
    /^(?:add|set|store|insert|generate|rm|edit|delete|write|login|import|add-generic-password|add-trusted-cert|delete-generic-password|unlock-keychain|token|clear|put|mv|cp|init|secrets|auth|policy|operator)\b/.test(
      verb ?? "",
    )
  )
    report(scope, "high", "credential_change", `${name} ${verb} changes stored credentials.`);
  return undefined;
};

/** Operands that are paths are written. */
export const writePaths: Judge = ({ args }, scope) =>
  judgeWrites(
    getOperands(args).filter(({ text }) => text.includes("/")),
    scope,
  );
