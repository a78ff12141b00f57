/** Random text that looks like shell code, also of the kind that makes parsers slow. */
import type { Random } from "./random.ts";

const tokens =
  "$( ${ ` ( ) { } [[ ]] [ ] (( )) <( >( ; | & && || <<EOF <<'E' EOF <<< > >> < 2>&1 ' \" \\ $' $x $@ * ? ~ ! a rm sh -c eval for in do done while if then fi case esac function {a,b} {1..9} = x= += # $(( 1 coproc time trap alias python3 -e find -exec xargs é 😀"
    .split(" ")
    .concat(["\n", "\t", " ", "\0", "\r", "\uffff"]);

/** `rows` are commands to take apart. */
export function generateNoise(random: Random, rows: readonly string[]): string {
  const { below, pick } = random;
  switch (below(6)) {
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
    default: {
      const max = pick([128, 256, 0xd800]);
      return Array.from({ length: below(300) }, () => String.fromCodePoint(below(max))).join("");
    }
  }
}
