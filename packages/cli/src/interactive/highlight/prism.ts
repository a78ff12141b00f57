/**
 * The highlighter: a file of its own, which is loaded with the first code that is shown. It has HTML, CSS and JavaScript; the
 * other languages are loaded with the first code in them, since all together take 30 ms.
 */
import Prism, { type Grammar } from "prismjs";

export const { tokenize } = Prism;

type Load = () => Promise<unknown>;

/** Each adds itself to the global that the import above makes. */
const c: Load = () => import("prismjs/components/prism-c.js");
const jsx: Load = () => import("prismjs/components/prism-jsx.js");
const typescript: Load = () => import("prismjs/components/prism-typescript.js");
const templating: Load = () => import("prismjs/components/prism-markup-templating.js");

/** The modules of each language, in the order in which they have to be loaded. */
const languages: Readonly<Record<string, readonly Load[]>> = {
  markup: [],
  css: [],
  clike: [],
  javascript: [],
  typescript: [typescript],
  jsx: [jsx],
  tsx: [jsx, typescript, () => import("prismjs/components/prism-tsx.js")],
  json: [() => import("prismjs/components/prism-json.js")],
  bash: [() => import("prismjs/components/prism-bash.js")],
  python: [() => import("prismjs/components/prism-python.js")],
  rust: [() => import("prismjs/components/prism-rust.js")],
  go: [() => import("prismjs/components/prism-go.js")],
  c: [c],
  cpp: [c, () => import("prismjs/components/prism-cpp.js")],
  csharp: [() => import("prismjs/components/prism-csharp.js")],
  java: [() => import("prismjs/components/prism-java.js")],
  kotlin: [() => import("prismjs/components/prism-kotlin.js")],
  swift: [() => import("prismjs/components/prism-swift.js")],
  ruby: [() => import("prismjs/components/prism-ruby.js")],
  php: [templating, () => import("prismjs/components/prism-php.js")],
  lua: [() => import("prismjs/components/prism-lua.js")],
  sql: [() => import("prismjs/components/prism-sql.js")],
  yaml: [() => import("prismjs/components/prism-yaml.js")],
  toml: [() => import("prismjs/components/prism-toml.js")],
  ini: [() => import("prismjs/components/prism-ini.js")],
  diff: [() => import("prismjs/components/prism-diff.js")],
  docker: [() => import("prismjs/components/prism-docker.js")],
  makefile: [() => import("prismjs/components/prism-makefile.js")],
  markdown: [() => import("prismjs/components/prism-markdown.js")],
};

/** Resolves to undefined if there is no such language. */
export async function loadGrammar(name: string): Promise<Grammar | undefined> {
  if (!Object.hasOwn(languages, name)) return undefined;
  for (const load of languages[name] ?? []) await load();
  return Prism.languages[name];
}
