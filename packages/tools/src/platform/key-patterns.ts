/** Recognises keys of well-known services by their form. */

/** The beginning of a key: not in the middle of a word, but possibly after an escape such as `%3D`, `\n` or `\u003d`. */
const start = String.raw`(?:(?<![\w-])|(?<=%[0-9A-Fa-f]{2}|\\[nrt]|\\u[0-9A-Fa-f]{4}))`;

/** Keys with the prefixes of their services. If a prefix is similar to a word, the key has to have a digit. */
const markedKeys = [
  String.raw`sk-(?=[\w-]*\d)[\w-]{16,}`,
  String.raw`[sr]k_(?:live|test)_\w{10,}`,
  String.raw`gh[oprsu]_\w{20,}`,
  String.raw`github_pat_\w{20,}`,
  String.raw`glpat-[\w-]{16,}`,
  String.raw`(?:AKIA|ASIA)[0-9A-Z]{16}`,
  String.raw`xox[a-z]-[\w-]{10,}`,
  String.raw`xapp-[\w-]{10,}`,
  String.raw`AIza[\w-]{30,}`,
  String.raw`ya29\.[\w-]{20,}`,
  String.raw`(?:hf|gsk|npm|tgp_v1|dop_v1|r8|fw)_(?=\w*\d)\w{20,}`,
  String.raw`(?:xai|pplx|nvapi|csk)-(?=[\w-]*\d)[\w-]{20,}`,
  String.raw`SG\.[\w-]{16,}\.[\w-]{16,}`,
  // Bots of Telegram and Discord.
  String.raw`\d{8,10}:[\w-]{35}(?![\w-])`,
  String.raw`[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}`,
  // A JSON Web Token, also one that was cut.
  String.raw`eyJ[\w-]{8,}(?:\.[\w-]*)+`,
];

/** The whole match is replaced, except for its first group. */
export const keyPatterns: readonly RegExp[] = [
  new RegExp(`${start}(?:${markedKeys.join("|")})`, "g"),
  /-----BEGIN [A-Z0-9 ]{1,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,40}-----|$)/g,
  /\b((?:bearer|basic)\s{1,3})(?=\S*\d|\S*=|\S{24})[\w.~+/-]{8,}=*/gi,
  // A password in a URL, or a user name that is long enough to be one.
  /\b([a-z][a-z0-9+.-]{1,20}:\/\/)(?:[^\s/?#@:"'\\]{0,200}:[^\s/?#@"']{1,500}|[^\s/?#@:"'\\]{20,500})(?=@)/gi,
];

/** Whether a text has something in it that looks like a key. */
export const looksLikeKey = (text: string): boolean => keyPatterns.some((pattern) => text.search(pattern) >= 0);
