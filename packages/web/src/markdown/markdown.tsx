/** Draws Markdown as elements. Nothing of it is ever HTML. */
import { GrowingMarkdown, type MarkdownToken, type Tokens } from "@tau/markdown";
import type { ComponentChildren, VNode } from "preact";
import { memo } from "../app/memo.ts";
import { useMemo } from "preact/hooks";
import { CodeBlock } from "./code-block.tsx";
import { toSafeLink } from "./safe-link.ts";

/** A text that may still be arriving. */
export const Markdown = memo(({ text }: { text: string }) => {
  const growing = useMemo(() => new GrowingMarkdown(), []);
  return (
    <div class="markdown">
      {growing.update(text).map((token, index) => (
        <Block key={index} token={token} />
      ))}
    </div>
  );
});

const Block = memo(({ token }: { token: MarkdownToken }) => <>{drawToken(token, false)}</>);

const drawAll = (tokens: readonly unknown[], isInLink: boolean): ComponentChildren =>
  (tokens as MarkdownToken[]).map((token) => drawToken(token, isInLink));

/** `isInLink`: HTML has no links inside links. */
function drawToken(token: MarkdownToken, isInLink: boolean): ComponentChildren {
  switch (token.type) {
    case "space":
      return null;
    case "heading":
      return drawHeading(token);
    case "paragraph":
      return <p>{drawAll(token.tokens, false)}</p>;
    case "code":
      return <CodeBlock code={token.text} language={token.lang ?? ""} />;
    case "blockquote":
      return <blockquote>{drawAll(token.tokens, false)}</blockquote>;
    case "list":
      return token.ordered ? (
        <ol start={token.start === "" ? 1 : token.start}>{drawAll(token.items, false)}</ol>
      ) : (
        <ul>{drawAll(token.items, false)}</ul>
      );
    case "list_item":
      return <li class={token.task ? "task" : undefined}>{drawAll(token.tokens, false)}</li>;
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "table":
      return drawTable(token);
    case "hr":
      return <hr />;
    case "text":
      return token.tokens ? drawAll(token.tokens, isInLink) : token.raw;
    // The lexer finds none of these.
    case "def":
    case "html":
      return token.raw;
    case "escape":
      return token.text;
    case "br":
      return <br />;
    case "codespan":
      return <code>{token.text}</code>;
    case "em":
      return <em>{drawAll(token.tokens, isInLink)}</em>;
    case "strong":
      return <strong>{drawAll(token.tokens, isInLink)}</strong>;
    case "del":
      return <del>{drawAll(token.tokens, isInLink)}</del>;
    case "link":
    case "image":
      // An image is a link too: loading it would tell its server who reads the page.
      return isInLink ? drawAll(token.tokens, true) : drawLink(token);
    default:
      token satisfies never;
      return null;
  }
}

/** The page uses the two highest levels itself. */
function drawHeading({ depth, tokens }: Tokens.Heading): VNode {
  const children = drawAll(tokens, false);
  if (depth === 1) return <h3>{children}</h3>;
  if (depth === 2) return <h4>{children}</h4>;
  return depth === 3 ? <h5>{children}</h5> : <h6>{children}</h6>;
}

function drawLink(token: Tokens.Link | Tokens.Image): ComponentChildren {
  const href = toSafeLink(token.href);
  if (href === undefined && token.type === "link" && token.raw.startsWith("<")) return token.raw;
  const text = token.tokens.length > 0 ? drawAll(token.tokens, true) : token.text || token.href;
  if (href === undefined) {
    return (
      <>
        {text} <span class="url">({token.href})</span>
      </>
    );
  }
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {token.type === "image" ? <>Image: {text}</> : text}
    </a>
  );
}

const drawTable = ({ header, rows }: Tokens.Table): VNode => (
  <div class="table" tabIndex={0} role="region" aria-label="Table">
    <table>
      <thead>
        <tr>{header.map(drawCell)}</tr>
      </thead>
      <tbody>
        {rows.map((cells, index) => (
          <tr key={index}>{cells.map(drawCell)}</tr>
        ))}
      </tbody>
    </table>
  </div>
);

function drawCell({ header, align, tokens }: Tokens.TableCell, index: number): VNode {
  const className = align === "center" || align === "right" ? align : undefined;
  const children = drawAll(tokens, false);
  return header ? (
    <th key={index} class={className}>
      {children}
    </th>
  ) : (
    <td key={index} class={className}>
      {children}
    </td>
  );
}
