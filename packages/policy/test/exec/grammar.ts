/**
 * Random bash scripts that only run harmless recorders. The recorders `alpha`, `beta` and `delta` succeed and print two
 * words, `gamma` fails. Other programs are named by their full paths.
 */
import type { Random } from "./random.ts";
import { quote } from "./transform.ts";

export const recorders = ["alpha", "beta", "gamma", "delta"] as const;

export const generateScript = (random: Random): string => new Generator(random).script();

class Generator {
  readonly #random: Random;
  #names = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  script(): string {
    const lines = Array.from({ length: 1 + this.#random.below(4) }, () => this.#statement(3));
    return `${lines.join("\n")}\nwait\n`;
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #plain(): string {
    return this.#random.pick(["x", "y1", "long-word", "a.b", "/p/q", "-r", "--opt=1", "7"]);
  }

  /** A word whose value bash computes. */
  #word(depth: number): string {
    const { pick, below } = this.#random;
    const plain = this.#plain();
    if (depth <= 0 || below(3) === 0) return plain;
    return pick([
      () => `"${plain} ${this.#plain()}"`,
      () => `'${plain}'`,
      () => `${plain.slice(0, 1)}""${plain.slice(1)}`,
      () => `$'\\x61\\142c'`,
      () => `\\${plain}`,
      () => `{${this.#plain()},${this.#plain()}}`,
      () => `p{1..3}q`,
      () => `$((${below(9)} + ${below(9)} * 2))`,
      () => `$(echo ${this.#word(depth - 1)})`,
      () => `"$(printf '%s-%s' ${this.#plain()} ${this.#plain()})"`,
      () => `\`echo ${plain}\``,
      () => `$(${this.#simple(depth - 1)})`,
      () => `"$(${this.#simple(depth - 1)})"`,
      () => `\${UNSET_${below(3)}:-${plain}}`,
      () => `"\${UNSET_${below(3)}}"`,
      () => `$UNSET_${below(3)}`,
      () => `"$HOME/${plain}"`,
      () => `~/${plain.replaceAll("/", "")}`,
      () => `"$@"`,
      () => `$1`,
      () => `$#`,
    ])();
  }

  /** Words of a variable, with the assignment that must come first. */
  #variable(depth: number): { before: string; word: string } {
    const { pick, below } = this.#random;
    const name = this.#name("v");
    const value = this.#word(depth - 1).replace(/^[{p].*[}].*$/, "braces");
    return pick([
      () => ({ before: `${name}=${value}`, word: pick([`$${name}`, `"$${name}"`, `"\${${name}}z"`]) }),
      () => ({
        before: `${name}="one two  three"`,
        word: pick([`$${name}`, `"$${name}"`, `\${${name}% *}`, `"\${${name}## }"`]),
      }),
      () => ({ before: `${name}=abcdef`, word: `\${${name}:${below(3)}:${1 + below(3)}}` }),
      () => ({
        before: `${name}=path/to/file.txt`,
        word: pick([`\${${name}##*/}`, `\${${name}%.*}`, `\${${name}/to/from}`, `\${${name}//t/T}`, `\${#${name}}`]),
      }),
      () => ({ before: `${name}=mixed`, word: pick([`\${${name}^}`, `\${${name}^^}`, `\${${name},,}`]) }),
      () => ({
        before: `${name}=(${this.#plain()} "b c" ${this.#plain()})`,
        word: pick([`"\${${name}[@]}"`, `\${${name}[1]}`, `\${#${name}[@]}`, `"\${${name}[*]}"`, `"\${${name}[@]:1}"`]),
      }),
      () => ({ before: `${name}=a; ${name}+=b`, word: `"$${name}"` }),
      () => ({ before: `${name}=1,2,3; IFS=,`, word: `$${name}` }),
      () => ({ before: `target${name}=hidden; ${name}=target${name}`, word: `"\${!${name}}"` }),
      () => ({ before: `read ${name} <<< "read words"`, word: `"$${name}"` }),
      () => ({ before: `printf -v ${name} '%s+%s' p q`, word: `"$${name}"` }),
      () => ({ before: `declare ${name}=declared; export ${name}`, word: `"$${name}"` }),
      () => ({ before: `if [ -d /nowhere ]; then ${name}=yes; else ${name}=no; fi`, word: `"$${name}"` }),
      () => ({ before: `for ${name} in i j; do :; done`, word: `"$${name}"` }),
    ])();
  }

  #simple(depth: number): string {
    const { pick, below } = this.#random;
    const recorder = pick(recorders);
    const words = Array.from({ length: below(4) }, () => this.#word(depth));
    const name = pick([
      recorder,
      recorder,
      recorder,
      `'${recorder}'`,
      `${recorder.slice(0, 2)}""${recorder.slice(2)}`,
      `\\${recorder}`,
    ]);
    return [name, ...words].join(" ");
  }

  #statement(depth: number): string {
    const { pick } = this.#random;
    const inner = () => this.#statement(depth - 1);
    if (depth <= 0) return this.#simple(1);
    return pick([
      () => this.#simple(depth),
      () => this.#simple(depth),
      () => {
        const { before, word } = this.#variable(depth);
        return `${before}\n${this.#simple(depth)} ${word}`;
      },
      () => {
        const { before, word } = this.#variable(depth);
        return `${before}\n${inner()}\n${this.#simple(0)} ${word}`;
      },
      () => `${inner()}\n${inner()}`,
      () => `${this.#simple(depth)} && ${this.#simple(depth)}`,
      () => `${this.#simple(depth)} || ${this.#simple(depth)}`,
      () => `${this.#simple(depth)} | ${this.#simple(depth)} | ${this.#simple(depth)}`,
      () => `! ${this.#simple(depth)}`,
      () => `(\n${inner()}\n)`,
      () => `{\n${inner()}\n}`,
      () => `(\n${inner()}\n) &`,
      () => `if ${this.#simple(1)}; then\n${inner()}\nelse\n${inner()}\nfi`,
      () => `if [[ -n "$(${this.#simple(1)})" ]]; then\n${inner()}\nfi`,
      () => {
        const name = this.#name("i");
        return `for ${name} in ${this.#word(2)} ${this.#word(1)}; do\n${this.#simple(0)} "$${name}"\n${inner()}\ndone`;
      },
      () => {
        const name = this.#name("i");
        return `for ${name} in 1 2 3; do\nkept=$${name}\nif [ $${name} = 2 ]; then break; fi\n${this.#simple(0)} $${name}\ndone\n${this.#simple(0)} "$kept"`;
      },
      () => {
        const name = this.#name("n");
        return `${name}=0\nwhile [ $${name} -lt 2 ]; do\n${inner()}\n${this.#simple(0)} "$${name}"\n${name}=$((${name} + 1))\ndone`;
      },
      () => `while read -r line; do\n${this.#simple(0)} "$line"\ndone <<< $'first\\nsecond line'`,
      () => `printf 'l1\\nl2\\n' | while read -r line; do ${this.#simple(0)} "$line"; done`,
      () => {
        const name = this.#name("c");
        return `for ((${name}=0; ${name}<2; ${name}++)); do ${this.#simple(0)} $${name}; done`;
      },
      () => `case ${this.#plain()} in\nx|y1)\n${inner()}\n;;\n*)\n${inner()}\n;;\nesac`,
      () => {
        const name = this.#name("f");
        return `${name}() {\n${this.#simple(1)} "$1" "$@"\n${inner()}\n}\n${name} ${this.#word(2)} ${this.#word(1)}`;
      },
      () => {
        const name = this.#name("f");
        return `${name}() { local l=$1; shift; ${this.#simple(0)} "$l" "$@"; [ "$l" = x ] && return; out${name}=set; }\n${name} ${this.#plain()} ${this.#plain()}\n${this.#simple(0)} "$out${name}"`;
      },
      () => `set -- ${this.#word(2)} ${this.#plain()}\n${this.#simple(0)} "$@"\nshift\n${this.#simple(0)} "$@"`,
      () => `eval ${quote(inner())}`,
      () => `eval "${this.#simple(0)} \\"quoted arg\\""`,
      () => `/bin/bash -c ${quote(inner())}`,
      () => `/bin/bash -c ${quote(`${this.#simple(0)} "$0" "$@"`)} ${this.#plain()} ${this.#word(1)}`,
      () => `/bin/bash <<'END${depth}'\n${inner()}\nEND${depth}`,
      () => `/bin/bash <<END${depth}\n${this.#simple(0)} $((1 + 1)) ${this.#plain()}\nEND${depth}`,
      () => `/bin/bash <<< ${quote(this.#simple(1))}`,
      () => `echo ${Buffer.from(inner()).toString("base64")} | /usr/bin/base64 -d | /bin/bash`,
      () => `printf '%s\\n' ${quote(inner())} > /tmp/s${depth}.sh\n. /tmp/s${depth}.sh`,
      () => `printf '%s\\n' ${quote(inner())} > /tmp/t${depth}.sh; /bin/bash /tmp/t${depth}.sh ${this.#plain()}`,
      () => `/usr/bin/env A=1 ${this.#simple(1)}`,
      () => `/usr/bin/env -i PATH="$PATH" ${this.#simple(0)}`,
      () => `/usr/bin/timeout 5 /usr/bin/nice -n 1 ${this.#simple(1)}`,
      () => `echo "${this.#plain()} ${this.#plain()}" | /usr/bin/xargs ${pick(recorders)} ${this.#plain()}`,
      () => `printf '%s\\n' 'a b' c | /usr/bin/xargs -I{} ${pick(recorders)} {} ${this.#plain()}`,
      () => `echo ${this.#plain()} | /usr/bin/xargs -n1 ${pick(recorders)}`,
      () => `command ${this.#simple(1)}`,
      () => `(exec ${this.#simple(1)})`,
      () => `(trap ${quote(this.#simple(1))} EXIT; ${this.#simple(0)})`,
      () => `shopt -s expand_aliases\nalias al${depth}=${quote(this.#simple(0))}\nal${depth} ${this.#plain()}`,
      () => `coproc {\n${this.#simple(1)}\n}\nwait`,
      () => `/bin/cat <(${this.#simple(1)}) > /dev/null`,
      () => `echo "$((${this.#random.below(5)} + $(${pick(recorders)} >/dev/null; echo 3)))"`,
      () => `${this.#simple(1)} > /tmp/out${depth}; ${pick(recorders)} "$(< /tmp/out${depth})"`,
      () => `A=env ${this.#simple(1)}`,
      () => `time ${this.#simple(1)}`,
      () => `mapfile -t lines <<< $'m1\\nm2'; ${pick(recorders)} "\${lines[@]}"`,
      () => `[ -z "$NOPE" ] && ${this.#simple(1)}; [ -n "$NOPE" ] || ${this.#simple(1)}`,
      () => `unset w; ${pick(recorders)} "\${w-unset}" \${w:+set}; w=1; ${pick(recorders)} \${w:+set}`,
    ])();
  }
}
