/** Interpreters: programs that run code of a language. */
import { type Language, type Programs, stdinName } from "./program.ts";

const runInput = new RegExp(String.raw`(?:^| )run (?:-\S+ )*${stdinName}`);

const python: Language = {
  name: "python",
  code: "c",
  valued: /^-[WXQm]$|^--check-hash-based-pycs$/,
  attached: /^-[a-zA-Z]*?[WXQm]/,
};
const uploads = /(?:^|\/)setup\.py (?:.* )?upload\b/;
const ruby: Language = {
  name: "ruby",
  code: "e",
  valued: /^-[CEFTKrI]$|^--(?:external|internal)-encoding$/,
  inPlace: /^-[pnalsw]*i/,
  modules: { name: /^-r(.+)$/s, directory: /^-(?:I|r(?=\/))(.+)$/s },
};
const lua: Language = { name: "lua", code: "e", valued: /^-[lW]$/ };
const php: Language = { name: "php", code: "rBRE", valued: /^-[cdStz]$/ };
const rscript: Language = { name: "rscript", code: "e" };

export const languages: Programs = {
  python: { is: ["otherO"], language: python, publishes: uploads },
  "python2 python3": { like: "python" },
  "pypy pypy3 ipython": { language: python },
  perl: {
    is: ["otherO"],
    language: {
      name: "perl",
      code: "eE",
      valued: /^-[CDxIMm]$/,
      inPlace: /^-[pnalsw0]*i/,
      modules: { name: /^-(?:[Mm]-?|dt?:)(.+)$/s, directory: /^-(?:I|Mlib=)(.+)$/s },
    },
  },
  ruby: { is: ["otherO"], language: ruby },
  "jruby irb pry": { language: ruby },
  rake: { language: ruby, publishes: /(?:^| )release(?::\w+)?(?: |$)/ },
  node: {
    is: ["otherO"],
    language: {
      name: "node",
      code: "ep",
      longCode: /^--(?:eval|print)$/,
      valued:
        /^(?:-C|--conditions|--env-file|--max-old-space-size|--title|--input-type|--test-name-pattern|--watch-path)$/,
      loads: /^(?:-r|--require|--import|--loader|--experimental-loader)$/,
    },
  },
  "nodejs tsx ts-node": { like: "node" },
  bun: {
    language: {
      name: "bun",
      code: "ep",
      longCode: /^--(?:eval|print)$/,
      valued: /^(?:-c|--config|--cwd|--env-file)$/,
      loads: /^(?:-r|--preload)$/,
    },
    rules: ["npm"],
    stdinCode: runInput,
  },
  deno: {
    language: { name: "deno", code: "", verb: /^eval$/, valued: /^(?:--config|-c|--import-map|--lock)$/ },
    installs: { words: /^(?:install|uninstall) .*(?:-g|--global)\b/, into: ["root"] },
    publishes: /^publish\b/,
    stdinCode: runInput,
  },
  "php php-cli": { language: php },
  "lua luajit": { language: lua },
  rscript: { language: rscript },
  "R Rscript": { language: rscript, rules: ["library"] },
  julia: {
    language: {
      name: "julia",
      code: "eE",
      longCode: /^--(?:eval|print)$/,
      valued: /^(?:-[LptJC]|--project|--threads)$/,
    },
    rules: ["library"],
  },
  osascript: { language: { name: "osascript", code: "e", valued: /^-[ls]$/ } },
  groovy: { language: { name: "groovy", code: "e", valued: /^-cp$/ } },
  octave: { language: { name: "octave", code: "", longCode: /^--eval$/ } },
  "elixir iex": { language: { name: "elixir", code: "e", longCode: /^--eval$/, valued: /^-r$/ } },
  erl: { language: { name: "erl", code: "", longCode: /^-eval$/, valued: /^-(?:s|pa|name|sname|setcookie)$/ } },
  "pwsh powershell": {
    language: {
      name: "pwsh",
      code: "c",
      longCode: /^-(?:Command|EncodedCommand|enc|ec)$/i,
      valued: /^-(?:File|ExecutionPolicy|WorkingDirectory|ep)$/i,
    },
    stdinCode: new RegExp(`(?:^| )-(?:c|Command|f|File) ${stdinName}`, "i"),
  },
  "tclsh wish": { language: { name: "tclsh", code: "" } },
  expect: { language: { name: "expect", code: "c", valued: /^-[fb]$/ } },
  guile: { language: { name: "guile", code: "c", valued: /^-[lLsx]$/ } },
  scala: { language: { name: "scala", code: "e", valued: /^-cp$/ } },
  ghc: { language: { name: "ghc", code: "e", valued: /^-[oi]$/ } },
  ocaml: { language: { name: "ocaml", code: "e", valued: /^-I$/ } },
  jshell: { language: { name: "jshell", code: "", valued: /^--/ } },
};
