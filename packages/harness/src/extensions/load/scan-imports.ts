/** What compiled code imports: the modules that it requires, and the names that it reads from them. Pure. */

/** The names that one import declaration takes from a module. */
export interface ImportedNames {
  readonly module: string;
  /** In the source, from 1. */
  readonly line: number;
  readonly names: readonly string[];
}

/** The modules that the code requires by a literal name, each once. */
export function scanRequires(code: string): string[] {
  const matches = code.matchAll(/\brequire\$?\(\s*(["'`])([^"'`\n]+)\1\s*\)/g);
  return [...new Set([...matches].map((match) => match[2]!))];
}

/**
 * The compiler declares a variable for each module and reads the names as its properties, so that types are already gone.
 * `includesExports`: also names that are only exported again. In TypeScript they may be types, which nobody can tell.
 */
export function scanImports(code: string, options: { includesExports: boolean }): ImportedNames[] {
  const imports: ImportedNames[] = [];
  for (const match of code.matchAll(/\bvar (_\w+) = require\$\('([^'\n]+)'\)/g)) {
    const [, variable = "", module = ""] = match;
    const names = new Set(findProperties(code, variable));
    const rest = code.slice(match.index, code.indexOf("\n", match.index) + 1 || undefined);
    const byDefault = new RegExp(`var (_\\w+) = _interopRequireDefault\\d*\\(${variable}\\)`).exec(rest)?.[1];
    if (byDefault !== undefined && findProperties(code, byDefault).includes("default")) names.add("default");
    if (options.includesExports) {
      const exported = new RegExp(`_createNamedExportFrom\\d*\\(${variable}, '[^']*', '([^']*)'\\)`, "g");
      for (const [, name = ""] of rest.matchAll(exported)) names.add(name);
    }
    if (names.size > 0) imports.push({ module, line: countLines(code, match.index), names: [...names] });
  }
  return imports;
}

const findProperties = (code: string, variable: string): string[] =>
  [...code.matchAll(new RegExp(`(?<![\\w$.])${variable}\\.([\\w$]+)`, "g"))].map((match) => match[1]!);

const countLines = (code: string, end: number): number => code.slice(0, end).split("\n").length;
