/** Finds what compiled code imports: the modules that it requires, and the names that it reads from them. Pure. */

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

/** The exports of a module that the code uses. */
export interface UsedNames {
  readonly module: string;
  readonly names: readonly string[];
}

/**
 * Lists the modules of which the code uses only exports that it names. A module that is taken as a whole, with `import *`,
 * `export *` or `require`, is not listed.
 */
export function scanUsedNames(code: string): UsedNames[] {
  return scanRequires(code).flatMap((module) => {
    const names = findUsedNames(code, module);
    return names ? [{ module, names }] : [];
  });
}

/** Undefined if the code can reach names that are not written in it. A text that has the name of the variable has that effect too. */
function findUsedNames(code: string, module: string): string[] | undefined {
  const name = module.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&");
  const requires = [...code.matchAll(new RegExp(`\\brequire\\$?\\(\\s*["'\`]${name}["'\`]\\s*\\)`, "g"))];
  const declarations = [...code.matchAll(new RegExp(`\\bvar (_\\w+) = require\\$\\('${name}'\\)`, "g"))];
  if (declarations.length !== requires.length) return undefined;
  const names = new Set<string>();
  for (const [, variable = ""] of declarations) {
    const exported = new RegExp(`_createNamedExportFrom\\d*\\(${variable}, '[^']*', '([^']*)'\\)`, "g");
    const used = [...findProperties(code, variable), ...[...code.matchAll(exported)].map((match) => match[1]!)];
    const mentions = [...code.matchAll(new RegExp(`${notMember}${variable}(?![\\w$])`, "g"))];
    // One of them is the declaration.
    if (mentions.length - 1 !== used.length) return undefined;
    for (const property of used) names.add(property);
  }
  return [...names];
}

/** Before a variable: neither part of a longer name nor a property. Three dots spread the variable. */
const notMember = "(?<![\\w$]|(?<!\\.\\.)\\.)";

const findProperties = (code: string, variable: string): string[] =>
  [...code.matchAll(new RegExp(`${notMember}${variable}\\.([\\w$]+)`, "g"))].map((match) => match[1]!);

const countLines = (code: string, end: number): number => code.slice(0, end).split("\n").length;
