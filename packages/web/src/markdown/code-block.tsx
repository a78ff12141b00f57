/** Code, with a button that copies it. */
import { useState } from "preact/hooks";
import { reportFailure } from "../app/problems.tsx";
import { Hidden } from "../text/hidden.tsx";
import { turning } from "../text/visible-text.ts";

export function CodeBlock({ code, language }: { code: string; language: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(code);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  const name = language.split(/\s/)[0] ?? "";
  return (
    <figure class="code">
      <figcaption>
        <span>{name}</span>
        <button class="text-button" onClick={() => reportFailure(copy())} aria-label="Copy this code">
          {isCopied ? "Copied" : "Copy"}
        </button>
      </figcaption>
      <pre tabIndex={0}>
        <code>
          <Hidden text={code} pattern={turning} />
        </code>
      </pre>
    </figure>
  );
}
