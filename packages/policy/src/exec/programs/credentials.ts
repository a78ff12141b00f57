/** Passwords, keys and stored logins. */
import type { Effect, Programs, SecretCall } from "./program.ts";

const runsPrintEnvironment: SecretCall = { words: /(?:^| )(?:run|exec\S*)(?: \S+)*? (?:env|printenv)(?: |$)/ };

/** Calls of tau, and of pi, that print keys. Options may be before the command. */
const keyPrinting: readonly Effect[] = [
  {
    does: "critical exfiltration",
    says: "$n prints a key or a token of a provider.",
    words: /(?:^| )auth print-(?:api-key|bearer-token)(?: |$)/,
    yields: "credential",
  },
  {
    does: "critical exfiltration",
    says: "$n prints a key or a token of a provider.",
    words: /(?:^| )auth check(?: |$)/,
    arg: /^--credentials(?:=|$)/,
    yields: "credential",
  },
];

/** Whether the arguments of a script are those of such a call, whatever the script is called. */
export const printsKeys = (words: string): boolean =>
  /(?:^| )auth print-(?:api-key|bearer-token)(?: |$)/.test(words) ||
  (/(?:^| )auth check(?: |$)/.test(words) && / --credentials(?:[ =]|$)/.test(words));

export const credentials: Programs = {
  "passwd chpasswd chage vipw vigr pwconv pwunconv chgpasswd saslpasswd2 smbpasswd ldappasswd kpasswd pw dscl": {
    does: "critical credential_change",
    says: "$n changes a password or an account.",
    unless: /^(?:-S|--status|-l$|--list)/,
  },
  "ssh-copy-id": { is: ["namesFiles"], does: "high credential_change", says: "$n lets a key log in elsewhere." },
  "ssh-add": {
    is: ["namesFiles"],
    does: "high credential_change",
    says: "$n changes the keys that are in use.",
    unless: /^-[lL]$/,
  },
  "ssh-import-id": { like: "ssh-add" },
  "update-ca-certificates update-ca-trust trust chsh chfn authselect realm": {
    does: "high credential_change",
    says: "$n changes whom this machine trusts.",
  },
  htpasswd: { rules: ["writePaths"] },
  "ssh-keygen": {
    is: ["namesFiles"],
    options: "a:b:C:D:E:F:f:I:i:J:j:K:k:M:m:N:n:O:P:R:r:S:s:T:t:V:W:w:Y:z:ABceghHKlLopQquUvXxy",
    rules: ["sshKeygen"],
  },
  "ssh-agent": { options: "a:E:P:t:cDdks", wraps: {}, printsCode: /^--?\w/ },
  "gpg-agent keychain": { printsCode: /^--?\w/ },
  gpg: { prints: "pack", rules: ["gpg"] },
  gpg2: { rules: ["gpg"] },
  "pass security secret-tool keyctl keyring lpass gopass": { rules: ["passwordStore"] },
  op: {
    rules: ["passwordStore"],
    secrets: [{ words: /(?:^| )(?:read|item get|get item|document get|inject|signin)(?: |$)/ }, runsPrintEnvironment],
  },
  bw: { rules: ["passwordStore"], secrets: [{ words: /(?:^| )(?:get|list items|export|unlock)(?: |$)/ }] },
  vault: {
    rules: ["passwordStore"],
    secrets: [{ words: /(?:^| )(?:unwrap|kv get|read|print token|token (?:create|lookup))(?: |$)/ }],
  },
  doppler: {
    rules: ["passwordStore"],
    secrets: [
      { words: /(?:^| )(?:secrets(?: (?:get \S+|download).*)?|configs tokens create)(?: |$)/ },
      runsPrintEnvironment,
    ],
  },
  infisical: {
    rules: ["passwordStore"],
    secrets: [{ words: /(?:^| )(?:secrets(?: get \S+.*)?|export)(?: |$)/ }, runsPrintEnvironment],
  },
  sops: { rules: ["passwordStore"], secrets: [runsPrintEnvironment] },
  teller: { secrets: [runsPrintEnvironment] },
  chamber: { secrets: [{ words: /(?:^| )(?:read|export|env)(?: |$)/ }, runsPrintEnvironment] },
  "ansible-vault": { secrets: [{ words: /(?:^| )(?:view|decrypt)(?: |$)/ }] },
  "keepassxc-cli": { secrets: [{ words: /(?:^| )(?:show|export|clip)(?: |$)/ }] },
  "kwallet-query": { secrets: [{ option: /^-r/ }] },
  // Tau itself: what lets somebody in, or changes what tools may do, is the user's alone.
  "pi pi-coding-agent": { is: ["partial"], effects: keyPrinting },
  tau: {
    is: ["partial"],
    effects: [
      ...keyPrinting,
      {
        does: "critical exfiltration",
        says: "$n $c prints the token of the account for the gateway.",
        words: /^gateway token(?: |$)/,
        yields: "credential",
      },
      {
        does: "critical exfiltration",
        says: "$n $c prints the token of a webhook.",
        words: /^gateway hook-token(?: |$)/,
        yields: "credential",
      },
      {
        does: "critical credential_change",
        says: "$n $c lets a device use the gateway.",
        words: /^gateway pair(?: |$)/,
      },
      {
        does: "critical credential_change",
        says: "$n $c changes who may use the gateway.",
        words: /^gateway revoke(?: |$)/,
      },
      {
        does: "critical exfiltration",
        says: "$n $c lets whoever has a link read a session.",
        words: /^sessions share(?: |$)/,
        arg: /^--link$/,
      },
      {
        does: "critical persistence",
        says: "$n $c lets another session do what it says.",
        words: /^sessions send(?: |$)/,
      },
      { does: "critical persistence", says: "$n $c changes tau's settings.", words: /^config (?:un)?set(?: |$)/ },
      { does: "critical persistence", says: "$n $c changes which projects tau trusts.", words: /^trust(?: |$)/ },
      {
        does: "critical persistence",
        says: "$n $c changes which extensions tau trusts.",
        words: /^extensions trust(?: |$)/,
      },
    ],
  },
};
