/** The languages whose files can be parsed, as data. */

export interface Language {
  /** The name for people and in the parameter `language`. */
  readonly name: string;
  /** Other names, in lower case. */
  readonly aliases: readonly string[];
  /** The endings of file names, without the dot. */
  readonly extensions: readonly string[];
  /** The name that the parser has for a grammar that comes with it. */
  readonly inside?: "TypeScript" | "Tsx" | "JavaScript" | "Html" | "Css";
  /** Where a grammar is that comes in a package of its own. */
  readonly grammar?: GrammarFile;
  /**
   * Code around a pattern, without which it is not read as what people mean: an expression is no part of a file in C. They are tried
   * in this order, before those of all languages.
   */
  readonly contexts?: readonly (readonly [before: string, after: string])[];
  /** Whether names in its code begin with a dollar sign. Default false. */
  readonly hasDollarNames?: boolean;
}

/** A grammar of tree-sitter as WebAssembly. */
export interface GrammarFile {
  readonly package: string;
  /** Its path in the package. */
  readonly file: string;
}

const grammar = (name: string, file = name): Pick<Language, "grammar"> => ({
  grammar: { package: `tree-sitter-${name}`, file: `tree-sitter-${file}.wasm` },
});

const inFunction = ["void f() {", ";}"] as const;
const inMethod = ["class C { void f() {", ";}}"] as const;
const inClass = ["class C {", "}"] as const;

export const languages: readonly Language[] = [
  { name: "TypeScript", aliases: ["ts"], extensions: ["ts", "mts", "cts"], inside: "TypeScript" },
  { name: "TSX", aliases: ["tsx"], extensions: ["tsx"], inside: "Tsx" },
  { name: "JavaScript", aliases: ["js", "jsx"], extensions: ["js", "mjs", "cjs", "jsx"], inside: "JavaScript" },
  { name: "HTML", aliases: ["html"], extensions: ["html", "htm"], inside: "Html" },
  { name: "CSS", aliases: ["css"], extensions: ["css"], inside: "Css" },
  { name: "Python", aliases: ["py"], extensions: ["py", "pyi"], ...grammar("python") },
  { name: "Go", aliases: ["golang"], extensions: ["go"], ...grammar("go") },
  { name: "Rust", aliases: ["rs"], extensions: ["rs"], ...grammar("rust") },
  { name: "Java", aliases: [], extensions: ["java"], contexts: [inMethod, inClass], ...grammar("java") },
  { name: "C", aliases: [], extensions: ["c", "h"], contexts: [inFunction], ...grammar("c") },
  {
    name: "C++",
    aliases: ["cpp"],
    extensions: ["cpp", "cc", "cxx", "hpp", "hh"],
    contexts: [inFunction, inClass],
    ...grammar("cpp"),
  },
  {
    name: "C#",
    aliases: ["csharp", "cs"],
    extensions: ["cs"],
    contexts: [inMethod, inClass],
    ...grammar("c-sharp", "c_sharp"),
  },
  { name: "Ruby", aliases: ["rb"], extensions: ["rb"], ...grammar("ruby") },
  {
    name: "PHP",
    aliases: [],
    extensions: ["php"],
    contexts: [["<?php ", ";"]],
    hasDollarNames: true,
    ...grammar("php"),
  },
  { name: "Bash", aliases: ["sh", "shell"], extensions: ["sh", "bash"], hasDollarNames: true, ...grammar("bash") },
  { name: "Scala", aliases: [], extensions: ["scala", "sc"], ...grammar("scala") },
  { name: "Haskell", aliases: ["hs"], extensions: ["hs"], ...grammar("haskell") },
  { name: "Elixir", aliases: ["ex"], extensions: ["ex", "exs"], ...grammar("elixir") },
  { name: "OCaml", aliases: ["ml"], extensions: ["ml"], ...grammar("ocaml") },
  { name: "Julia", aliases: ["jl"], extensions: ["jl"], ...grammar("julia") },
  { name: "JSON", aliases: [], extensions: ["json"], ...grammar("json") },
];

export const findLanguage = (name: string): Language | undefined => {
  const wanted = name.trim().toLowerCase();
  return languages.find((language) => language.name.toLowerCase() === wanted || language.aliases.includes(wanted));
};

/** The language of a file, by the ending of its name. */
export const getLanguage = (path: string): Language | undefined => {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase();
  return languages.find(({ extensions }) => extension !== undefined && extensions.includes(extension));
};
