import { render } from "preact";
import { App } from "./app/app.tsx";
import { reportProblem } from "./app/problems.tsx";
import { applyTheme } from "./app/theme.ts";
import { readValue } from "./device/database.ts";
import { readDevice } from "./device/pairing.ts";
import "./style/base.css";
import "./style/layout.css";
import "./style/transcript.css";
import "./style/dialogs.css";

/** No await at the top: files that are loaded later could not import from this one, and the first load would be several files. */
async function start(): Promise<void> {
  // A browser that stores nothing can be used until it is closed.
  const [device, theme] = await Promise.all([
    readDevice().catch(reportProblem),
    readValue("theme").catch(reportProblem),
  ]);
  applyTheme(theme);
  render(<App device={device} />, document.getElementById("page")!);
}

void start();
