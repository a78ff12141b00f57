/** Passwords, keys and stored logins. */
import { forNames, getOperands, isInformation, resolveAll, type Judge, type Judges } from "../programs/invocation.ts";
import { runOption } from "../programs/option-code.ts";
import { parseOptions } from "../programs/options.ts";
import { report } from "../shell/analysis.ts";
import { known, origins, unknown } from "../shell/text.ts";
import { judgeWrite } from "./write.ts";

const password: Judge = ({ name, args }, scope) => {
  if (isInformation(args) || args.some(({ text }) => /^(?:-S|--status|-l$|--list)/.test(text))) return;
  report(scope, "critical", "credential_change", `${name} changes a password or an account.`);
};

const sshKeygen: Judge = ({ args }, scope) => {
  const options = parseOptions(args, {
    short: "a:b:C:D:E:F:f:I:i:J:j:K:k:M:m:N:n:O:P:R:r:S:s:T:t:V:W:w:Y:z:ABceghHKlLopQquUvXxy",
  });
  const onlyVerifies = options.get("Y").some(({ text }) => /^(?:verify|check-|find-|match-)/.test(text));
  if (onlyVerifies || options.has("l", "B", "y", "F", "L", "e", "i", "Q", "r")) return;
  if (options.has("R")) {
    report(scope, "medium", "credential_change", "It changes the list of known hosts.");
    return;
  }
  const files = options.get("f");
  const targets = files.length > 0 ? files : [known("~/.ssh/id_ed25519")];
  for (const file of targets) for (const path of resolveAll(file, scope)) judgeWrite(path, scope);
};

const always =
  (tier: "critical" | "high" | "medium", reason: string): Judge =>
  ({ name, args }, scope) => {
    if (!isInformation(args)) report(scope, tier, "credential_change", `${name} ${reason}.`);
  };

/** Programs with verbs that store or remove logins. */
const withVerbs =
  (verbs: RegExp): Judge =>
  ({ name, args }, scope) => {
    const [first, second] = getOperands(args).map(({ text }) => text);
    if (verbs.test(first ?? "") || verbs.test(`${first} ${second}`))
      report(scope, "high", "credential_change", `${name} ${first} changes stored logins.`);
  };

const gpg: Judge = ({ args }, scope) => {
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

const readSecret: Judge = ({ name, args }, scope) => {
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

export const credentialRules: Judges = {
  ...forNames(
    "passwd chpasswd chage vipw vigr pwconv pwunconv chgpasswd saslpasswd2 smbpasswd ldappasswd kpasswd pw dscl",
    password,
  ),
  ...forNames("ssh-copy-id", always("high", "lets a key log in elsewhere")),
  ...forNames("ssh-add ssh-import-id", (invocation, scope) => {
    const onlyLists = invocation.args.some(({ text }) => /^-[lL]$/.test(text));
    return onlyLists ? undefined : always("high", "changes the keys that are in use")(invocation, scope);
  }),
  ...forNames(
    "update-ca-certificates update-ca-trust trust chsh chfn authselect realm",
    always("high", "changes whom this machine trusts"),
  ),
  ...forNames("gpg gpg2", gpg),
  ...forNames("pass op bw vault security secret-tool keyctl keyring lpass gopass sops doppler infisical", readSecret),
  ...forNames("gem rubygems", withVerbs(/^(?:signin|signout)$/)),
  ...forNames("mysqladmin", withVerbs(/^(?:password|flush-privileges)$/)),
  ...forNames("htpasswd", ({ args }, scope) => {
    for (const arg of getOperands(args))
      if (arg.text.includes("/")) for (const path of resolveAll(arg, scope)) judgeWrite(path, scope);
  }),
  "ssh-keygen": sshKeygen,
};
