import { Text } from "./text.ts";

export interface LoaderIndicatorOptions {
  /** Drawn as they are, without the color of the spinner. An empty array hides the indicator. Default: a spinner. */
  frames?: string[];
  /** Default 80. */
  intervalMs?: number;
}

/** All that a loader needs of the interface it is part of. */
interface RenderRequester {
  requestRender(): void;
}

type Style = (text: string) => string;

const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const defaultIntervalMs = 80;

/** A message with an indicator that moves until `stop()`. Its timer does not keep the process alive. */
export class Loader extends Text {
  readonly #ui: RenderRequester;
  readonly #styleSpinner: Style;
  readonly #styleMessage: Style;
  #message: string;
  #indicator: LoaderIndicatorOptions;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;
  #withBlank: { of: string[]; lines: string[] } | undefined;

  constructor(
    ui: RenderRequester,
    spinnerColorFn: Style,
    messageColorFn: Style,
    message = "Loading...",
    indicator: LoaderIndicatorOptions = {},
  ) {
    super("", 1, 0);
    this.#ui = ui;
    this.#styleSpinner = spinnerColorFn;
    this.#styleMessage = messageColorFn;
    this.#message = message;
    this.#indicator = indicator;
    this.start();
  }

  override render(width: number): string[] {
    const lines = super.render(width);
    if (this.#withBlank?.of !== lines) this.#withBlank = { of: lines, lines: ["", ...lines] };
    return this.#withBlank.lines;
  }

  start(): void {
    this.#update();
    this.#restart();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  setMessage(message: string): void {
    this.#message = message;
    this.#update();
  }

  setIndicator(indicator: LoaderIndicatorOptions = {}): void {
    this.#indicator = indicator;
    this.#frame = 0;
    this.start();
  }

  override invalidate(): void {
    super.invalidate();
    this.setText(this.#toText());
  }

  protected getRenderedIndicator(): string {
    const frame = this.#frames[this.#frame] ?? "";
    return this.#indicator.frames ? frame : this.#styleSpinner(frame);
  }

  get #frames(): readonly string[] {
    return this.#indicator.frames ?? spinner;
  }

  #restart(): void {
    this.stop();
    if (this.#frames.length < 2) return;
    const { intervalMs } = this.#indicator;
    this.#timer = setInterval(
      () => {
        this.#frame = (this.#frame + 1) % this.#frames.length;
        this.#update();
      },
      intervalMs && intervalMs > 0 ? intervalMs : defaultIntervalMs,
    );
    this.#timer.unref();
  }

  #update(): void {
    this.setText(this.#toText());
    this.#ui.requestRender();
  }

  #toText(): string {
    const indicator = this.getRenderedIndicator();
    return (indicator === "" ? "" : `${indicator} `) + this.#styleMessage(this.#message);
  }
}
