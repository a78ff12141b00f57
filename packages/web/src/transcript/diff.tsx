/** A diff, with a class for each kind of line. */
import { Hidden } from "../text/hidden.tsx";
import { turning } from "../text/visible-text.ts";
import { classifyDiff } from "./classify-diff.ts";

export const Diff = ({ text }: { text: string }) => (
  <pre class="diff" tabIndex={0}>
    {classifyDiff(text).map(({ kind, line }, index) => (
      <span key={index} class={`line ${kind}`}>
        <Hidden text={line} pattern={turning} />
        {"\n"}
      </span>
    ))}
  </pre>
);
