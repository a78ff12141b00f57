/** Places in source files, and stops of a debugger. */
import {
  type CodePlace,
  type DebuggerStop,
  describePlace,
  describeStop,
  formatPlace,
  formatVariable,
  listExcerptLines,
  type ParsedPlaces,
} from "@tau/protocol/surface";
import { Hidden } from "../text/hidden.tsx";
import { toPlainOutput } from "../text/visible-text.ts";
import { folds } from "./describe-call.ts";
import { NumberedLine } from "./numbered-line.tsx";
import { Folded, Plain } from "./output.tsx";

export const PlacesOutput = ({ places, omitted }: ParsedPlaces) => (
  <>
    <Folded
      lines={places}
      fold={folds.places}
      noun="place"
      draw={(shown) => (
        <ul class="places">
          {shown.map((place, index) => (
            <li key={index}>
              {place.excerpt ? (
                <details>
                  <summary>
                    <PlaceTitle place={place} />
                  </summary>
                  <Excerpt place={place} />
                </details>
              ) : (
                <PlaceTitle place={place} />
              )}
            </li>
          ))}
        </ul>
      )}
    />
    {omitted > 0 && <p class="muted places-rest">… {omitted} more places</p>}
  </>
);

const PlaceTitle = ({ place }: { place: CodePlace }) => (
  <>
    <code class="place-name">
      <Hidden text={formatPlace(place)} />
    </code>{" "}
    {place.severity && <strong class={`severity ${place.severity}`}>{place.severity}</strong>}{" "}
    <Hidden text={describePlace(place)} />
  </>
);

function Excerpt({ place }: { place: CodePlace }) {
  const lines = listExcerptLines(place);
  const width = String(lines.at(-1)?.number ?? "").length;
  return (
    <pre class="diff" tabIndex={0}>
      {lines.map(({ number, text, isCurrent }) => (
        <NumberedLine
          key={number}
          number={number}
          width={width}
          text={`${isCurrent ? ">" : " "} ${toPlainOutput(text).replaceAll("\n", " ")}`}
          kind={isCurrent ? "current" : "context"}
        />
      ))}
    </pre>
  );
}

export function StepOutput({ stop }: { stop: DebuggerStop }) {
  const { variables = [], frames = [], output = "" } = stop;
  const place = stop.place ?? frames[0]?.place;
  const stack = frames.map((frame) => [frame.name, frame.place ? formatPlace(frame.place) : ""].join(" "));
  return (
    <div class="step">
      <p class="step-title">
        <Hidden text={describeStop(stop)} />
      </p>
      {place?.excerpt && <Excerpt place={place} />}
      {variables.length > 0 && (
        <Folded
          lines={variables}
          fold={folds.step}
          noun="variable"
          draw={(shown) => <Plain text={shown.map((variable) => toPlainOutput(formatVariable(variable))).join("\n")} />}
        />
      )}
      <Section title="Stack" text={stack.length > 1 ? stack.join("\n") : ""} />
      <Section title="Output" text={output} />
    </div>
  );
}

const Section = ({ title, text }: { title: string; text: string }) =>
  text.trim() === "" ? null : (
    <details class="output">
      <summary>{title}</summary>
      <Plain text={toPlainOutput(text).trimEnd()} />
    </details>
  );
