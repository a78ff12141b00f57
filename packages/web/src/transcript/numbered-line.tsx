/** A line of a file with its number, which is not part of what is copied. */
import { Hidden } from "../text/hidden.tsx";
import { turning } from "../text/visible-text.ts";

interface Props {
  text: string;
  /** Undefined: none is shown. */
  number?: number | undefined;
  /** Columns of the longest number; 0 if no line has one. */
  width: number;
  /** A class. */
  kind?: string;
}

export const NumberedLine = ({ text, number, width, kind = "context" }: Props) => (
  <span class={`line ${kind}`}>
    {width > 0 && <span class="line-number">{`${number ?? ""}`.padStart(width)} </span>}
    <Hidden text={text} pattern={turning} />
    {"\n"}
  </span>
);
