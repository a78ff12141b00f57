/**
 * Other ways to write a script so that bash still runs the same commands. Each gets a number that makes names unique when
 * several are combined. Undefined where a way does not apply to a script.
 */
export type Transform = (script: string, id: number) => string | undefined;

export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const toBase64 = (text: string) => Buffer.from(text).toString("base64");
const toEscapes = (text: string) =>
  [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
const toOctal = (text: string) =>
  [...Buffer.from(text)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

/** A script that begins with the plain name of a program. */
const simpleName =
  /^(?!(?:if|for|while|until|case|coproc|time|function|trap|cd|eval|exec|export|source|select)\b)([a-z]{2,})(?= )/;

export const transforms: Readonly<Record<string, Transform>> = {
  "sh -c": (script) => `bash -c ${quote(script)}`,
  "nested sh -c": (script) => `sh -c ${quote(`bash -lc ${quote(script)}`)}`,
  eval: (script) => `eval ${quote(script)}`,
  "here-document": (script, id) => `bash <<'END${id}'\n${script}\nEND${id}`,
  "here-document by cat": (script, id) => `cat <<'END${id}' | bash -s\n${script}\nEND${id}`,
  "here-string": (script) => `bash <<< ${quote(script)}`,
  base64: (script) => `echo ${toBase64(script)} | base64 -d | bash`,
  "base64 in a substitution": (script) => `bash -c "$(echo ${toBase64(script)} | base64 --decode)"`,
  hexadecimal: (script) => `eval $'${toEscapes(script)}'`,
  "printf octal": (script) => `eval "$(printf '${toOctal(script)}')"`,
  "pipe of printf": (script) => `printf '%s\\n' ${quote(script)} | sh`,
  function: (script, id) => `f${id}() {\n${script}\n}; f${id}`,
  "function with an argument": (script, id) => `f${id}() { eval "$1"; }; f${id} ${quote(script)}`,
  subshell: (script) => `(\n${script}\n)`,
  "brace group": (script) => `{\n${script}\n}`,
  if: (script) => `if true; then\n${script}\nfi`,
  else: (script) => `if false; then echo no; else\n${script}\nfi`,
  for: (script, id) => `for i${id} in 1; do\n${script}\ndone`,
  "for over the script": (script, id) => `for s${id} in ${quote(script)}; do eval "$s${id}"; done`,
  while: (script) => `while :; do\n${script}\nbreak; done`,
  case: (script) => `case x in\n*)\n${script}\n;;\nesac`,
  and: (script) => `true && {\n${script}\n}`,
  or: (script) => `false || {\n${script}\n}`,
  newline: (script) => `echo ok\n\n# a comment\n${script}`,
  "cd to the same directory": (script) => `cd . && {\n${script}\n}`,
  "cd there and back": (script) => `cd src; cd ..\n${script}`,
  variable: (script, id) => `v${id}=${quote(script)}; eval "$v${id}"`,
  "two variables": (script, id) => {
    const middle = Math.floor(script.length / 2);
    return `a${id}=${quote(script.slice(0, middle))}; b${id}=${quote(script.slice(middle))}; eval "$a${id}$b${id}"`;
  },
  array: (script, id) => `a${id}=(bash -c ${quote(script)}); "\${a${id}[@]}"`,
  positional: (script) => `set -- bash -c ${quote(script)}; "$@"`,
  "script as an argument": (script) => `bash -c 'eval "$1"' _ ${quote(script)}`,
  "brace expansion": (script) => `{bash,-c,${quote(script)}}`,
  "quoted parts of a name": (script) => `b""ash -'c' ${quote(script)}`,
  "name in a variable": (script, id) => `n${id}=ba; n${id}+=sh; $n${id} -c ${quote(script)}`,
  "name in a substitution": (script) => `$(echo bash) -c ${quote(script)}`,
  "split with IFS": (script) => `bash\${IFS}-c\${IFS}${quote(script)}`,
  "command substitution": (script) => `echo "$(\n${script}\n)"`,
  "process substitution": (script) => `cat <(\n${script}\n)`,
  coproc: (script) => `coproc {\n${script}\n}`,
  trap: (script) => `trap ${quote(script)} EXIT`,
  alias: (script, id) => `shopt -s expand_aliases\nalias a${id}=${quote(script)}\na${id}`,
  source: (script, id) => `source /dev/stdin <<'END${id}'\n${script}\nEND${id}`,
  "file that is written first": (script, id) => `printf '%s\\n' ${quote(script)} > /tmp/t${id}.sh; bash /tmp/t${id}.sh`,
  "env and timeout": (script) => `env A=1 timeout -k 1 5 bash -c ${quote(script)}`,
  "nice and nohup": (script) => `nice -n 5 nohup setsid bash -c ${quote(script)}`,
  "env -S": (script) => (/['"\\$]/.test(script) ? undefined : `env -S "bash -c '${script}'"`),
  xargs: (script) => `echo x | xargs -I@@ bash -c ${quote(script)}`,
  // find replaces `{}` wherever it stands.
  find: (script) => (script.includes("{}") ? undefined : `find . -maxdepth 0 -exec bash -c ${quote(script)} \\;`),
  python: (script) => `python3 -c ${quote(`import os; os.system(${JSON.stringify(script)})`)}`,
  perl: (script) => (/[@$\\%]/.test(script) ? undefined : `perl -e ${quote(`system(${JSON.stringify(script)})`)}`),
  "git alias": (script) => `git -c alias.x=${quote(`!${script}`)} x`,
  "name with empty quotes": (script) =>
    simpleName.test(script) ? script.replace(simpleName, (name) => `${name.slice(0, 1)}""${name.slice(1)}`) : undefined,
  "name with a backslash": (script) => (simpleName.test(script) ? `\\${script}` : undefined),
  "line continuation": (script) =>
    simpleName.test(script)
      ? script.replace(simpleName, (name) => `${name.slice(0, 1)}\\\n${name.slice(1)}`)
      : undefined,
  "command builtin": (script) => (simpleName.test(script) ? `command ${script}` : undefined),
};
