/**
 * Code that is evaluated by the inspector can import nothing: `import()` has no callback there, and declarations are not allowed.
 * Both are rewritten to a function of the kernel. Pure.
 */

/** The function of the kernel. */
const load = "__import";

/** Matches an import declaration at the start of a statement. */
const declaration =
  /^import\s*(?:([\w$]+)\s*(?:,\s*)?)?(?:\*\s*as\s+([\w$]+)\s*|\{([^{}]*)\}\s*)?(from\s*)?(["'])((?:\\.|(?!\5)[^\\\n])*)\5(?:\s*with\s*(\{[^{}]*\}))?/;

export function rewriteImports(code: string): string {
  if (!code.includes("import")) return code;
  let result = "";
  let copied = 0;
  for (const start of findImports(code)) {
    const rest = code.slice(start);
    const match = declaration.exec(rest);
    const isCall = /^import\s*\(/.test(rest);
    const text = isCall ? load : match && toStatement(match);
    if (!text) continue;
    result += code.slice(copied, start) + text;
    copied = start + (isCall ? "import".length : match![0].length);
  }
  return result + code.slice(copied);
}

function toStatement([, first, all, names, from, quote, specifier, options]: RegExpExecArray): string | undefined {
  const call = `await ${load}(${quote}${specifier}${quote}${options === undefined ? "" : `, { with: ${options} }`})`;
  if (from === undefined) return first === undefined && all === undefined && names === undefined ? call : undefined;
  const listed = (names ?? "")
    .split(",")
    .map((name) => name.trim().replace(/\s+as\s+/, ": "))
    .filter(Boolean);
  if (all !== undefined) {
    const own = first === undefined ? "" : `; const ${first} = ${all}.default`;
    return `const ${all} = ${call}${own}`;
  }
  const members = [...(first === undefined ? [] : [`default: ${first}`]), ...listed];
  return `const { ${members.join(", ")} } = ${call}`;
}

/** After these words, and after other characters than a name, a number or a closing bracket, a slash begins a pattern. */
const beforePattern =
  /(?:^|[^\w$)\]}.\s]|\b(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield))\s*$/;

/** The places of the word outside of strings, comments, templates and patterns. */
function findImports(code: string): number[] {
  const places: number[] = [];
  /** For each open template, how many braces are open in its current expression. */
  const templates: number[] = [];
  for (let index = 0; index < code.length;) {
    const char = code[index]!;
    const next = code[index + 1];
    if (char === "/" && next === "/") index = endOf(code, "\n", index);
    else if (char === "/" && next === "*") index = endOf(code, "*/", index + 2);
    else if (char === '"' || char === "'") index = skipQuoted(code, index, char);
    else if (char === "/" && beforePattern.test(code.slice(Math.max(0, index - 20), index)))
      index = skipPattern(code, index);
    else if (char === "`") index = enterTemplate(code, index + 1, templates);
    else if (char === "}" && templates.at(-1) === 0) {
      templates.pop();
      index = enterTemplate(code, index + 1, templates);
    } else {
      if (char === "{" && templates.length > 0) templates[templates.length - 1]!++;
      if (char === "}" && templates.length > 0) templates[templates.length - 1]!--;
      const word = /[\w$]/.test(char) ? /^[\w$]+/.exec(code.slice(index, index + 200))![0] : char;
      if (word === "import" && code[index - 1] !== ".") places.push(index);
      index += word.length;
    }
  }
  return places;
}

/** Skips the text of a template up to its end, or into an expression of it. */
function enterTemplate(code: string, start: number, templates: number[]): number {
  for (let index = start; index < code.length; index++) {
    if (code[index] === "\\") index++;
    else if (code[index] === "`") return index + 1;
    else if (code[index] === "$" && code[index + 1] === "{") {
      templates.push(0);
      return index + 2;
    }
  }
  return code.length;
}

function skipQuoted(code: string, start: number, quote: string): number {
  for (let index = start + 1; index < code.length; index++) {
    if (code[index] === "\\") index++;
    else if (code[index] === quote || code[index] === "\n") return index + 1;
  }
  return code.length;
}

function skipPattern(code: string, start: number): number {
  let isInClass = false;
  for (let index = start + 1; index < code.length; index++) {
    const char = code[index];
    if (char === "\\") index++;
    else if (char === "\n") return index;
    else if (char === "[") isInClass = true;
    else if (char === "]") isInClass = false;
    else if (char === "/" && !isInClass) return index + 1;
  }
  return code.length;
}

function endOf(code: string, mark: string, start: number): number {
  const index = code.indexOf(mark, start);
  return index < 0 ? code.length : index + mark.length;
}
