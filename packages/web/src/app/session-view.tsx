/** A session: its header, transcript, questions, queue, and where messages are written. */
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import type { GatewayClient } from "@tau/protocol/client";
import { Approvals } from "../approvals/approvals.tsx";
import { stopRun } from "../composer/stop-buttons.tsx";
import { Composer } from "../composer/composer.tsx";
import { Queue } from "../composer/queue.tsx";
import { forkSession } from "../commands/fork-session.ts";
import type { CommandPort } from "../commands/slash-commands.ts";
import { ExtensionDialogs } from "../extensions/extension-dialogs.tsx";
import { ExtensionNotes } from "../extensions/extension-notes.tsx";
import { Statuses, Widgets } from "../extensions/widgets.tsx";
import { ModelPanel } from "../panels/model-panel.tsx";
import { SettingsPanel } from "../panels/settings-panel.tsx";
import { SharePanel } from "../panels/share-panel.tsx";
import { StatsPanel } from "../panels/stats-panel.tsx";
import { ToolsPanel } from "../panels/tools-panel.tsx";
import { TranscriptView } from "../transcript/transcript-view.tsx";
import type { Shows } from "../transcript/describe-call.ts";
import { FilesDialog, type FilesQuestion, offerFiles } from "../tree/offer-files.tsx";
import { TreePanel } from "../tree/tree-panel.tsx";
import type { Draft } from "./draft.ts";
import { getDraft } from "./drafts.ts";
import { hasScope } from "./has-scope.ts";
import { Notices } from "./notices.tsx";
import { reportFailure } from "./problems.tsx";
import { useRedraw } from "./redraw.ts";
import { SessionContext, type SessionContextValue, type SessionPanel, type SharedPanel } from "./session-context.ts";
import { SessionHeader } from "./session-header.tsx";
import { SessionInfo } from "./session-info.ts";
import { useShortcuts } from "./shortcuts.ts";

interface SessionViewProps {
  client: GatewayClient;
  sessionId: string;
  onOpenShared: (panel: SharedPanel) => void;
}

export function SessionView({ client, sessionId, onOpenShared }: SessionViewProps) {
  const session = useMemo(() => client.session(sessionId), [client, sessionId]);
  const info = useMemo(() => new SessionInfo(session), [session]);
  const draft = getDraft(client, sessionId);
  const [panel, setPanel] = useState<SessionPanel>();
  const [filesQuestion, setFilesQuestion] = useState<FilesQuestion>();
  // Closed at once: a view of the same session that comes in the next frame would get the one that is about to be closed.
  useLayoutEffect(() => {
    const stop = info.start();
    return () => {
      stop();
      session.close();
    };
  }, [session, info]);
  useRedraw((listener) => info.onChange(listener), [info]);
  useShortcuts([
    { key: "t", label: "Tree", run: () => setPanel("tree") },
    { key: "m", label: "Model and thinking", run: () => setPanel("model") },
    { key: "c", label: "Cost and context", run: () => setPanel("stats") },
    { key: ".", mod: true, label: "Stop the run", run: () => stopRun(session) },
  ]);
  const close = () => setPanel(undefined);
  const openPanel: CommandPort["openPanel"] = (name) =>
    name === "help" || name === "usage" ? onOpenShared(name) : setPanel(name);
  const page: CommandPort = { client, session, info, openPanel };
  const offer = (target: string | null) =>
    offerFiles(session, target, (shown) => {
      const answered = new Promise<Parameters<FilesQuestion["answer"]>[0]>((answer) =>
        setFilesQuestion({ shown, answer }),
      );
      return answered.finally(() => setFilesQuestion(undefined));
    });
  const mayWrite = hasScope(client, "write");
  const context: SessionContextValue = useMemo(
    () => ({
      shows: toShows(info),
      fork: mayWrite ? (target) => reportFailure(forkSession(page, target, offer)) : undefined,
    }),
    [info.tools, session, mayWrite],
  );
  return (
    <SessionContext.Provider value={context}>
      <main class="session-view">
        <SessionHeader client={client} session={session} info={info} onOpen={setPanel} />
        <TranscriptView session={session} />
        <Foot page={page} draft={draft} />
        {panel === "tree" && <TreePanel session={session} draft={draft} offerFiles={offer} onClose={close} />}
        {panel === "model" && <ModelPanel session={session} info={info} onClose={close} />}
        {panel === "stats" && <StatsPanel session={session} info={info} onClose={close} />}
        {panel === "tools" && (
          <ToolsPanel session={session} info={info} mayChange={hasScope(client, "admin")} onClose={close} />
        )}
        {panel === "settings" && <SettingsPanel session={session} onClose={close} />}
        {filesQuestion && <FilesDialog question={filesQuestion} />}
        {panel === "share" && <SharePanel client={client} session={session} onClose={close} />}
      </main>
    </SessionContext.Provider>
  );
}

function Foot({ page, draft }: { page: CommandPort; draft: Draft }) {
  const { client, session } = page;
  useRedraw((listener) => session.onChange(listener), [session]);
  const { state, ui } = session;
  const { live } = session.view;
  if (state.kind === "closed") {
    return (
      <footer class="foot">
        <p class="problem" role="alert">
          {describeClosed(state.reason)}
        </p>
        <button class="button" onClick={() => session.reopen()}>
          Open again
        </button>
      </footer>
    );
  }
  return (
    <footer class="foot">
      <Notices notices={live.notices} />
      <ExtensionNotes session={session} draft={draft} />
      <Approvals client={client} session={session} approvals={live.approvals} />
      <ExtensionDialogs session={session} dialogs={ui.dialogs} />
      <Widgets ui={ui} placement="aboveEditor" />
      <Queue session={session} steering={live.steering} followUps={live.followUps} />
      <Composer page={page} draft={draft} isRunning={live.run !== undefined} />
      <Widgets ui={ui} placement="belowEditor" />
      <Statuses ui={ui} />
    </footer>
  );
}

const describeClosed = (reason: string): string =>
  reason === "deleted" ? "This session was deleted." : `This session is not open: ${reason}`;

const toShows = ({ tools }: SessionInfo): ReadonlyMap<string, Shows> =>
  new Map(tools.flatMap(({ name, shows }) => (shows ? [[name, shows] as const] : [])));
