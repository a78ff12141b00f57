/** The languages whose grammars come with the parser, as data. */

export interface Language {
  /** The name for people and in the parameter `language`. */
  readonly name: string;
  /** Other names, in lower case. */
  readonly aliases: readonly string[];
  /** The endings of file names, without the dot. */
  readonly extensions: readonly string[];
  /** The name that the parser has for it. */
  readonly grammar: "TypeScript" | "Tsx" | "JavaScript" | "Html" | "Css";
}

export const languages: readonly Language[] = [
  { name: "TypeScript", aliases: ["ts"], extensions: ["ts", "mts", "cts"], grammar: "TypeScript" },
  { name: "TSX", aliases: ["tsx"], extensions: ["tsx"], grammar: "Tsx" },
  { name: "JavaScript", aliases: ["js", "jsx"], extensions: ["js", "mjs", "cjs", "jsx"], grammar: "JavaScript" },
  { name: "HTML", aliases: ["html"], extensions: ["html", "htm"], grammar: "Html" },
  { name: "CSS", aliases: ["css"], extensions: ["css"], grammar: "Css" },
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

export const listLanguages = (): string => languages.map(({ name }) => name).join(", ");
