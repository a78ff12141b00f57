/** Recognises secrets that are not known: by their form, or by the name of their field. */

export { keyPatterns } from "@tau/tools/platform";

/** Names without separators: whole names, or ends of longer names. */
const secretNames =
  /^(?:access|refresh|codeverifier|devicecode|usercode|authorizationcode|(?:client)?assertion|bearer|pwd)$|(?:token|password|passwd|passphrase|passwort|secrets?|authorization|cookies?|credentials?|apikeys?|(?:access|private|secret|signing|encryption|subscription|account)key|accesskeyid)$/;

/** Whether the value of a field with this name is a secret. */
export function isSecretName(name: string): boolean {
  return name.length <= 100 && secretNames.test(name.replace(/[\s._-]+/g, "").toLowerCase());
}

/**
 * Whether the next item of a list is a secret, as in headers, `["authorization", "…"]`, and in arguments of commands,
 * `["--token", "…"]`. Words with other meanings match only in a pair.
 */
export function isSecretLabel(item: unknown, isPair: boolean): boolean {
  if (typeof item !== "string" || !isSecretName(item) || /^(?:access|refresh)$/.test(item)) return false;
  return isPair || !/^(?:token|secrets?|password|cookies?|credentials?|bearer)$/.test(item);
}

const fieldName = String.raw`[\w.-]{0,40}?(?:token|password|passwd|passphrase|secret|authorization|cookie|credential|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key|secret[_-]?key|code[_-]?verifier)`;

/** Fields inside of texts: in JSON (also inside of JSON), headers, and `name=value` in forms, files and shells. */
export const secretFieldPatterns: readonly RegExp[] = [
  // The value ends at a quote with as many escapes as that of the name; a quote with more escapes belongs to the value.
  new RegExp(String.raw`((\\{0,3}["'])${fieldName}\2\s{0,3}:\s{0,3}\2)(?:[^"'\\]|\\+[^"'\\]|(?!\2)\\*["'])+`, "gi"),
  /(\b(?:proxy-)?authorization\s?:\s?(?:\w{1,20}\s)?|\bx-(?:[a-z]+-)?api-key\s?:\s?|\b(?:set-)?cookie\s?:\s)[^\s"'\\][^\r\n"'\\]*/gi,
  new RegExp(String.raw`((?<![\w.-])${fieldName}(?:=|%3D)["']?)[^\s"'&;,<>(){}$\\]{6,}`, "gi"),
];
