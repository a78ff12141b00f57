import { render } from "preact";
import { App } from "./app/app.tsx";
import { applyTheme } from "./app/theme.ts";
import { readValue } from "./device/database.ts";
import "./style/base.css";
import "./style/layout.css";
import "./style/transcript.css";
import "./style/dialogs.css";

const [device, theme] = await Promise.all([readValue("device"), readValue("theme")]);
applyTheme(theme);
render(<App device={device} />, document.getElementById("page")!);
