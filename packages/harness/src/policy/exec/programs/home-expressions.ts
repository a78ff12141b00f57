/** Expressions for the home directory in code of several languages. Pure. */

const quoted = (text: string) => `\\(?\\s*["']${text}["']\\s*\\)?`;
const expressions = [
  // Python, and what other languages call alike.
  `(?:os\\.)?path\\.expanduser\\(\\s*(["'])~((?:/[^"'\\n]{0,200})?)\\1\\s*\\)`,
  `(?:os\\.)?environ(?:\\.get\\(\\s*["']HOME["'][^)\\n]{0,80}\\)|\\[\\s*["']HOME["']\\s*\\])`,
  `(?:\\w+(?:\\.|::))*getenv${quoted("HOME")}`,
  `(?:pathlib\\.)?Path\\.home\\(\\)`,
  `(?:pathlib\\.)?Path\\(\\s*["']~["']\\s*\\)\\.expanduser\\(\\)`,
  // JavaScript.
  `(?:require\\(\\s*["'](?:node:)?os["']\\s*\\)|os)\\.homedir\\(\\)|\\bhomedir\\(\\)`,
  `process\\.env(?:\\.HOME\\b|\\[\\s*["']HOME["']\\s*\\])`,
  `Deno\\.env\\.get${quoted("HOME")}|Bun\\.env\\.HOME\\b`,
  // Ruby, Perl, PHP, PowerShell.
  `ENV(?:\\.fetch${quoted("HOME")}|\\[\\s*["']HOME["']\\s*\\])`,
  `Dir\\.home(?:\\(\\))?`,
  `\\$ENV\\{\\s*["']?HOME["']?\\s*\\}`,
  `\\$_(?:SERVER|ENV)\\[\\s*["']?HOME["']?\\s*\\]`,
  `\\$env:(?:HOME|USERPROFILE)\\b`,
].join("|");

const interpolated = new RegExp(`[#$]?\\{\\s*(?:${expressions})\\s*\\}`, "g");
const stringOrExpression = new RegExp(`"(?:\\\\.|[^"\\\\]){0,4000}"|(?:${expressions})`, "g");
const inString = /\$ENV\{\s*HOME\s*\}|\$_(?:SERVER|ENV)\[\s*HOME\s*\]|\$env:(?:HOME|USERPROFILE)\b/g;

/** The code with the path of the home directory as a literal, wherever an expression stands for it. */
export function replaceHome(source: string, home: string): string {
  if (!/HOME|home|expanduser|USERPROFILE/.test(source)) return source;
  return source
    .replace(interpolated, (_, _quote, rest?: string) => home + (rest ?? ""))
    .replace(stringOrExpression, (match, _quote, rest?: string) =>
      match[0] === '"' ? match.replace(inString, () => home) : `"${home}${rest ?? ""}"`,
    );
}
