/** Random text that looks like shell code, also of the kind that makes parsers slow. */
import type { Random } from "./random.ts";

const tokens =
  "$( ${ ` ( ) { } [[ ]] [ ] (( )) <( >( ; | & && || <<EOF <<'E' EOF <<< > >> < 2>&1 ' \" \\ $' $x $@ * ? ~ ! a rm sh -c eval for in do done while if then fi case esac function {a,b} {1..9} = x= += # $(( 1 coproc time trap alias python3 -e find -exec xargs é 😀"
    .split(" ")
    .concat(["\n", "\t", " ", "\0", "\r", "\uffff"]);

/** Programs with code in a language of their own, and beginnings of what is looked for in it. */
const languages =
  "python3 -c|perl -e|node -e|ruby -e|vim -c|awk|sed|make -f - <<<|psql -c|tclsh <<<|emacs --eval|ed x <<<".split("|");
const fragments =
  'def␣a function␣a spawn␣__file__ /proc .listen() socket␣`sh` system( qx( q{ %w[ <~ exec␣ shell-command␣ : a:␣b ; s/a/ print␣| Path(" a="b"; import␣a␣as␣b; open( os.kill( while␣1 COPY␣ $(shell␣ join("a", ARGV␣ chmod␣'
    .split(" ")
    .map((fragment) => fragment.replaceAll("␣", " "));

/** `rows` are commands to take apart. */
export function generateNoise(random: Random, rows: readonly string[]): string {
  const { below, pick } = random;
  switch (below(7)) {
    case 0:
      return Array.from({ length: 1 + below(60) }, () => pick(tokens)).join(pick(["", " "]));
    case 1: {
      const unit = pick(tokens) + pick(["", ...tokens]);
      return unit.repeat(Math.floor((below(1_000) / 1_000) ** 3 * (65_536 / unit.length)));
    }
    case 2: {
      let text = pick(rows);
      for (let count = 1 + below(6); count > 0; count--) {
        const position = below(text.length + 1);
        text = text.slice(0, position) + pick(tokens) + text.slice(position + below(4));
      }
      return text;
    }
    case 3: {
      const [first, second] = [pick(rows), pick(rows)];
      return first.slice(0, below(first.length)) + second.slice(below(second.length));
    }
    case 4:
      return Array.from({ length: 1 + below(40) }, () => pick(rows)).join(pick(["; ", "\n", " | ", " && "]));
    case 5: {
      const unit = pick(fragments) + pick(["", " ", ...fragments]);
      const count = Math.floor((below(1_000) / 1_000) ** 3 * (60_000 / unit.length));
      return `${pick(languages)} '${pick(fragments)}${unit.repeat(count)}'`;
    }
    default: {
      const max = pick([128, 256, 0xd800]);
      return Array.from({ length: below(300) }, () => String.fromCodePoint(below(max))).join("");
    }
  }
}
