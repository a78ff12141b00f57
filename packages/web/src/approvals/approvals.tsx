/** Questions of the policy. Everything that would happen is shown, and allowing takes a deliberate choice. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Approval, ApprovalAnswer } from "@tau/protocol";
import type { GatewayClient, RemoteSession } from "@tau/protocol/client";
import {
  findChoiceIndex,
  formatTimeLeft,
  getTimeLeftMs,
  listCommandLines,
  pluralise,
  toAllowAnswer,
  toDenyAnswer,
} from "@tau/protocol/surface";
import { useAttempt } from "../app/attempt.ts";
import { useDeaf } from "../app/deaf.ts";
import { useFocusAfterAnswer } from "../app/focus-after-answer.ts";
import { Hidden } from "../text/hidden.tsx";

interface ApprovalsProps {
  client: GatewayClient;
  session: RemoteSession;
  approvals: readonly Approval[];
}

export function Approvals({ client, session, approvals }: ApprovalsProps) {
  const [first, ...others] = approvals;
  const onAnswered = useFocusAfterAnswer(first?.id);
  if (!first) return null;
  const mayAnswer = client.hello?.scopes.includes("approve") ?? false;
  return (
    <Question
      key={first.id}
      session={session}
      approval={first}
      others={others.length}
      mayAnswer={mayAnswer}
      onAnswered={onAnswered}
    />
  );
}

interface QuestionProps {
  session: RemoteSession;
  approval: Approval;
  others: number;
  mayAnswer: boolean;
  onAnswered: () => void;
}

function Question({ session, approval, others, mayAnswer, onAnswered }: QuestionProps) {
  const attempt = useAttempt();
  const [reason, setReason] = useState("");
  const isDeaf = useDeaf();
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    // A user who is writing keeps the focus; else the question gets the keys.
    if (!(document.activeElement instanceof HTMLTextAreaElement)) box.current?.focus();
  }, []);
  const answer = (given: ApprovalAnswer) => {
    onAnswered();
    void attempt.run(() => session.call("approve", { approvalId: approval.id, ...given, resume: true }));
  };
  const deny = () => answer(toDenyAnswer(reason));
  const isOff = isDeaf || attempt.isBusy || !mayAnswer;
  const onKeyDown = (event: KeyboardEvent) => {
    if (isOff || event.ctrlKey || event.altKey || event.metaKey || event.target instanceof HTMLInputElement) return;
    const offered = approval.choices[findChoiceIndex(event.key, approval.choices) ?? -1];
    if (event.key !== "n" && !offered) return;
    // The page's own shortcuts have the same keys.
    event.preventDefault();
    if (offered) answer(toAllowAnswer(offered));
    else deny();
  };
  return (
    <section class="question" role="alertdialog" aria-label="A question" tabIndex={-1} ref={box} onKeyDown={onKeyDown}>
      <h2>
        Allow this?
        {others > 0 && <span class="muted small"> {pluralise(others, "more question")}</span>}
        <TimeLeft approval={approval} />
      </h2>
      <p class="question-summary">
        <Hidden text={approval.summary} /> <span class="muted">({approval.toolName})</span>
      </p>
      <QuestionFacts approval={approval} />
      <p class="muted small">
        <Hidden text={approval.reason} />
      </p>
      {attempt.problem !== "" && (
        <p class="problem" role="alert">
          {attempt.problem}
        </p>
      )}
      {!mayAnswer && <p class="muted small">This device may not answer questions.</p>}
      <Choices choices={approval.choices} isOff={isOff} onDeny={deny} onAllow={answer} />
      <input
        class="question-reason"
        placeholder="If no: why? The model reads it."
        aria-label="Why not"
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && !isOff && deny()}
      />
    </section>
  );
}

interface ChoicesProps {
  choices: Approval["choices"];
  isOff: boolean;
  onDeny: () => void;
  onAllow: (answer: ApprovalAnswer) => void;
}

const Choices = ({ choices, isOff, onDeny, onAllow }: ChoicesProps) => (
  <div class="question-choices">
    {/* As in the terminal: what is chosen without reading allows nothing. */}
    <button class="button primary" disabled={isOff} onClick={onDeny}>
      No
    </button>
    {choices.map((offered, index) => (
      <button
        key={index}
        class="button"
        disabled={isOff}
        title={index < 9 ? `Key ${index + 1}` : undefined}
        onClick={() => onAllow(toAllowAnswer(offered))}
      >
        <Hidden text={offered.label} />
      </button>
    ))}
  </div>
);

/** How long the question waits; nothing if it waits for ever. */
function TimeLeft({ approval }: { approval: Approval }) {
  const { expiresAt } = approval;
  const [, redraw] = useState(0);
  useEffect(() => {
    if (expiresAt === undefined) return undefined;
    const timer = setInterval(() => redraw((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [expiresAt]);
  const leftMs = getTimeLeftMs(approval, Date.now());
  return leftMs === undefined ? null : <span class="muted small question-time"> {formatTimeLeft(leftMs)}</span>;
}

function QuestionFacts({ approval: { commands, path, host } }: { approval: Approval }) {
  const lines = listCommandLines(commands ?? []);
  return (
    <>
      {lines.length > 0 && (
        <pre class="question-facts" tabIndex={0}>
          <Hidden text={lines.join("\n")} />
        </pre>
      )}
      {path !== undefined && (
        <pre class="question-facts">
          <Hidden text={path} />
        </pre>
      )}
      {host !== undefined && (
        <pre class="question-facts">
          <Hidden text={host} />
        </pre>
      )}
    </>
  );
}
