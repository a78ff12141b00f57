/** A call of a tool, from the moment the model begins to write it until its result is there. */
import { useContext, useState } from "preact/hooks";
import {
  getCallSubject,
  getCellResult,
  getAddedText,
  getDiffs,
  getPartialText,
  getText,
  joinTexts,
  listOutcomeNotes,
  parsePlaces,
  parseStop,
} from "@tau/protocol/surface";
import { memo } from "../app/memo.ts";
import { ChevronIcon } from "../app/icons.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { Hidden } from "../text/hidden.tsx";
import { Name } from "../text/name.tsx";
import { toSafeName } from "../text/visible-text.ts";
import { SessionContext } from "../app/session-context.ts";
import { PlacesOutput, StepOutput } from "./code-places.tsx";
import { ImageView } from "./content.tsx";
import { getCallStatus, type Shows } from "./describe-call.ts";
import type { CallState } from "./items.ts";
import { NestedCalls } from "./nested-calls.tsx";
import { CodeOutput, DiffOutput, FileOutput, Output } from "./output.tsx";

/** A command may print megabytes, and of a running call only the end is of interest. */
const maxRecentLength = 16_000;

const statusNames = {
  waiting: "waiting",
  asked: "waits for your answer",
  running: "running",
  done: "done",
  failed: "failed",
  denied: "not allowed",
} as const;

export const ToolCallView = memo(({ call }: { call: CallState }) => {
  const { shows: showsByTool } = useContext(SessionContext);
  const [isExpanded, setExpanded] = useState(false);
  const status = getCallStatus(call);
  const shows = showsByTool.get(call.name) ?? "text";
  const outcome = listOutcomeNotes(call.result?.details, call.result?.isError ?? false);
  const note = [...(status === "done" ? [] : [statusNames[status]]), ...outcome].join(", ");
  return (
    <section class={`call ${status}`} aria-label={`${toSafeName(call.name)}: ${statusNames[status]}`}>
      <button
        class="call-title"
        aria-expanded={isExpanded}
        disabled={!call.input}
        onClick={() => setExpanded(!isExpanded)}
      >
        <span class="dot" aria-hidden="true" />
        <span class="call-name cut">
          <Name text={call.name} />
        </span>
        <span class="call-subject">{call.input ? <Hidden text={getSubject(call.input, shows)} /> : "…"}</span>
        {note && <span class="call-note">{note}</span>}
        <ChevronIcon />
      </button>
      {isExpanded && call.input && (
        <pre class="call-input" tabIndex={0}>
          <Hidden text={formatInput(call.input)} />
        </pre>
      )}
      {call.denied !== undefined && (
        <p class="call-denied">
          <Hidden text={call.denied} />
        </p>
      )}
      {call.nested.length > 0 && (
        <NestedCalls rows={call.nested} isExpanded={isExpanded} onExpand={() => setExpanded(true)} />
      )}
      {shows === "document" && typeof call.input?.["content"] === "string" && <Markdown text={call.input["content"]} />}
      {shows === "cell" && <CodeOutput code={getCode(call)} isArriving={!call.input} />}
      <CallBody call={call} shows={shows} />
    </section>
  );
});

function CallBody({ call, shows }: { call: CallState; shows: Shows }) {
  const { input, result, running, denied } = call;
  if (running && running.updates.length > 0) {
    const text = running.updates.map(({ content }) => content).join("");
    return <Output text={text.slice(-maxRecentLength)} shows="command" isError={false} />;
  }
  if (!result || denied !== undefined) return null;
  const isChange = (shows === "diff" || shows === "file") && !result.isError;
  const diffs = isChange ? getDiffs(result.details) : [];
  const added = isChange ? <Output text={getAddedText(result.content)} shows="text" isError={false} /> : null;
  if (diffs.length > 0)
    return (
      <>
        <DiffOutput diffs={diffs} />
        {added}
      </>
    );
  const content = isChange && shows === "file" ? input?.["content"] : undefined;
  if (typeof content === "string" && content !== "")
    return (
      <>
        <FileOutput content={content} />
        {added}
      </>
    );
  const places = shows === "places" && !result.isError ? parsePlaces(result.details) : undefined;
  if (places && places.places.length > 0) return <PlacesOutput {...places} />;
  const stop = shows === "step" && !result.isError ? parseStop(result.details) : undefined;
  if (stop) return <StepOutput stop={stop} />;
  const text = joinTexts(result.content);
  const value = shows === "cell" ? (getCellResult(result.details) ?? "") : "";
  const images = result.content.filter((block) => block.type === "image");
  return (
    <>
      <Output text={text} shows={isChange ? "text" : shows} isError={result.isError} />
      {!text.trimEnd().endsWith(value.trimEnd()) && <Output text={`→ ${value}`} shows="text" isError={false} />}
      {images.map((image, index) => (
        <ImageView key={index} mimeType={image.mimeType} data={image.data} />
      ))}
    </>
  );
}

/** The code of a cell is below its title. */
const getSubject = (input: NonNullable<CallState["input"]>, shows: Shows): string =>
  shows === "cell" ? getText(input["language"]) : getCallSubject(input);

const getCode = ({ input, arriving = "" }: CallState): string =>
  input ? getText(input["code"]) : getPartialText(arriving, "code");

/** A text of several lines is easier to read as such than as JSON. */
const formatInput = (input: Readonly<Record<string, unknown>>): string =>
  Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value, undefined, 2)}`)
    .join("\n");
