/** Programs that read, search, change, convert or show text and media. */
import { type Programs, stdinName } from "./program.ts";

/** Many names end so, and all of them search. */
export const grepName = /^[a-z]*grep$/;

export const text: Programs = {
  cat: { is: ["showsText", "viewer", "compressor"], prints: "pass" },
  "head tail": { is: ["showsText"], prints: "pass" },
  more: { is: ["showsText", "viewer"], prints: "pass" },
  "tac nl fold fmt expand": { prints: "pass" },
  uniq: { prints: "pass", writesOperand: { index: 1, min: 2 } },
  "most diff-so-fancy": { is: ["viewer"] },
  sort: {
    is: ["otherO"],
    options:
      "k:t:T:o:S:nrufbdghiMRVsczm compress-program= output= key= field-separator= temporary-directory= buffer-size= files0-from= parallel= reverse numeric-sort unique",
    prints: "pass",
    runs: "compress-program",
    writes: "o output",
  },
  less: {
    is: ["otherO", "showsText", "viewer"],
    options: "o:O:k:P:t:T:x:b:h:j:p:y:z:FRSXNiIeEmMnqQsuUwWGgKL",
    prints: "pass",
    writes: "o O",
    // `less +!CMD` runs it at the start.
    rules: ["less"],
  },
  bat: {
    is: ["showsText", "viewer"],
    options: "l:H:r:m:pnAPfh pager= language= paging= style= color= theme= map-syntax= line-range= tabs= wrap=",
    prints: "pass",
    code: "pager",
  },
  delta: { is: ["viewer"], options: "- pager= paging= features= syntax-theme= width=", code: "pager" },
  fzf: {
    options:
      "q:f:n:d:m:e preview= bind= query= filter= nth= with-nth= delimiter= height= prompt= header= preview-window= expect= with-shell= border=? layout= tac multi ansi reverse",
    runs: "with-shell",
    code: "preview",
    embedded: /(?:execute(?:-silent|-multi)?|become|reload(?:-sync)?|preview|transform\S*)[(:]\s*([^)\n]+)/g,
  },
  man: {
    is: ["showsText"],
    options:
      "P:H:C:L:M:S:s:e:p:R:E:afkKlwWiIdDuqtTZ pager= html=? config-file= locale= manpath= sections= extension= preprocessor= recode= encoding= apropos whatis where all local-file",
    rules: ["man"],
  },

  "grep egrep fgrep zgrep rgrep ggrep": { is: ["search", "otherO", "showsText", "takesText"], readsBelow: "flag" },
  pgrep: { is: ["search", "otherO", "showsText"], prints: "pgrep" },
  rg: {
    is: ["search", "otherO", "showsText"],
    options:
      "A:B:C:e:f:g:j:m:M:r:t:T:E:d:ilnNwvcHhuUzLSsFPpo0 pre= pre-glob= pretty hostname-bin= regexp= file= glob= iglob= type= type-not= max-count= context= replace= color= colors= sort= ignore-file= encoding= engine= json files hidden no-ignore multiline",
    runs: "pre hostname-bin",
    readsBelow: "always",
  },
  "ag ack ugrep ripgrep": { is: ["search", "otherO", "showsText"], readsBelow: "always" },

  awk: { is: ["showsText"], rules: ["awk"], stdinCode: new RegExp(`(?:^| )(?:-f ?|--file[= ])${stdinName}`) },
  "gawk mawk nawk": { like: "awk" },
  "original-awk": { rules: ["awk"] },
  gsed: { rules: ["sed"], stdinCode: new RegExp(`(?:^| )(?:-[a-zA-Z]*f ?|--file[= ])${stdinName}`) },
  sed: { like: "gsed", is: ["showsText"], prints: "edit" },
  ssed: { rules: ["sed"] },
  echo: { is: ["namesFiles", "readsNothing", "showsText"], prints: "echo" },
  printf: { is: ["namesFiles", "readsNothing", "showsText"] },
  export: { is: ["namesFiles", "showsText"] },
  declare: { is: ["showsText"] },
  "true false :": { is: ["namesFiles", "readsNothing", "viewer"] },
  "cat-file": { is: ["namesFiles"] },
  "jq yq": { is: ["takesText", "showsText"] },
  diff: { is: ["takesText", "showsText"] },
  cmp: { is: ["takesText", "readsDisks"] },
  "info apropos whatis tldr cheat expr say espeak cowsay figlet notify-send comm": { is: ["takesText"] },
  "column pytest sshfs netstat ss journalctl": { is: ["otherO"] },
  rev: { prints: "rev" },
  tr: { options: "cdstC delete squeeze-repeats complement truncate-set1", prints: "translate" },
  cut: { options: "b:c:d:f:ns characters= bytes= fields= delimiter=", prints: "cut" },
  "base64 gbase64": { options: "w:i:o:b:dD decode wrap= ignore-garbage help version", prints: "base64" },
  "base32 uuencode": { prints: "pack" },
  xxd: { prints: "hexDump", writesOperand: { index: -1, min: 2 } },
  hexdump: { prints: "hexDump" },
  od: { is: ["otherO"], prints: "hexDump" },
  yes: { prints: "yes" },
  seq: { prints: "counter" },
  split: {
    options: "a:b:C:l:n:t:dex filter= additional-suffix= bytes= lines= number= suffix-length= numeric-suffixes=?",
    code: "filter",
    writesOperand: { index: -1, min: 2 },
  },
  csplit: {
    options: "f:b:n:ksqz prefix= suffix-format= digits=",
    writes: "f prefix",
    writesOperand: { index: -1, min: 2 },
  },

  // Small languages, documents and media.
  dc: { options: "e:f: expression= file=", embedded: /(?:^|\n|\s)!([^\n<>=][^\n]*)/g },
  m4: {
    options: "D:U:I:F:R:s define= include= freeze-state= reload-state=",
    embedded: /e?syscmd\(\s*[`"']?([^)`'"\n]+)/g,
  },
  gnuplot: { options: "e:pdc", embedded: /(?:system\s*\(?\s*["']|(?:^|\n|;)\s*!|["']\s*[|<]\s*)([^"'\n]+)/g },
  "latex pdflatex xelatex lualatex tex pdftex luatex": {
    hasSingleDash: true,
    options: "- shell-escape output-directory= jobname=",
    writes: "output-directory",
    embedded: /\\write18\s*\{([^}\n]+)|os\.execute\s*\(\s*["']([^"'\n]+)/g,
  },
  latexmk: { options: "e:r: pdf pdfxe pdflua c C f g cd", hasSingleDash: true, runs: "e" },
  pandoc: {
    is: ["otherO"],
    options: "F:L:o:f:t:r:w:sV:M:H: filter= lua-filter= output= from= to= pdf-engine=",
    runs: "filter F",
    writes: "o output",
  },
  enscript: { options: "p:o:d:P: output=", writes: "p o output" },
  "ffmpeg avconv": { writesOperand: { index: -1, min: 1 } },
  "convert magick gm sox objcopy optipng pdfunite qpdf pngcrush": { writesOperand: { index: -1, min: 2 } },
  strip: { writesOperand: { index: -1, min: 1 } },
};
