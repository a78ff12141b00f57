/** Expressions for the home directory in code of several languages. Pure. */

const quoted = (text: string) => `\\(?\\s{0,20}["']${text}["']\\s{0,20}\\)?`;
const expressions = [
  // Python, and what other languages call alike.
  `(?:os\\.)?path\\.expanduser\\(\\s{0,20}(["'])~((?:/[^"'\\n]{0,200})?)\\1\\s{0,20}\\)`,
  `(?:os\\.)?environ(?:\\.get\\(\\s{0,20}["']HOME["'][^)\\n]{0,80}\\)|\\[\\s{0,20}["']HOME["']\\s{0,20}\\])`,
  `(?:\\w{1,20}(?:\\.|::)){0,3}getenv${quoted("HOME")}`,
  `(?:pathlib\\.)?Path\\.home\\(\\)`,
  `(?:pathlib\\.)?Path\\(\\s{0,20}["']~["']\\s{0,20}\\)\\.expanduser\\(\\)`,
  // JavaScript.
  `(?:require\\(\\s{0,20}["'](?:node:)?os["']\\s{0,20}\\)|os)\\.homedir\\(\\)|\\bhomedir\\(\\)`,
  `process\\.env(?:\\.HOME\\b|\\[\\s{0,20}["']HOME["']\\s{0,20}\\])`,
  `Deno\\.env\\.get${quoted("HOME")}|Bun\\.env\\.HOME\\b`,
  // Elixir.
  `System\\.user_home!?(?:\\(\\))?`,
  // Ruby, Perl, PHP, PowerShell.
  `ENV(?:\\.fetch${quoted("HOME")}|\\[\\s{0,20}["']HOME["']\\s{0,20}\\])`,
  `Dir\\.home(?:\\(\\))?`,
  `\\$ENV\\{\\s{0,20}["']?HOME["']?\\s{0,20}\\}`,
  `\\$_(?:SERVER|ENV)\\[\\s{0,20}["']?HOME["']?\\s{0,20}\\]`,
  `\\$env:(?:HOME|USERPROFILE)\\b`,
].join("|");

const interpolated = new RegExp(`[#$]?\\{\\s{0,20}(?:${expressions})\\s{0,20}\\}`, "g");
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
