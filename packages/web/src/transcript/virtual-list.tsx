/** A long list of which only what is on the screen, and a little around it, is drawn. Items may have any height. */
import { Component, type ComponentChildren, createRef } from "preact";
import { changeHeight, findIndex, findRange, getOffsets, type Range } from "./ranges.ts";

interface VirtualListProps<T extends { key: string }> {
  items: readonly T[];
  draw: (item: T) => ComponentChildren;
  /** In pixels, for items that were never drawn. */
  estimatedHeight: number;
  label: string;
  /** Whether it stays at its end while it grows, unless the reader has scrolled away. */
  followsEnd?: boolean;
  /** Gets the list before it is drawn, for `scrollToEnd` and `scrollTo`. */
  onCreate?: (list: VirtualList<T>) => void;
  /** The beginning comes near. */
  onNearStart?: () => void;
  /** Whether the end is on the screen. */
  onAtEnd?: (isAtEnd: boolean) => void;
  role?: "log" | "list";
}

/** How far beyond the screen items are drawn, and when the next ones are. */
const margin = 1_000;
const minMargin = 800;
/** While a reader moves by more than this part of the screen per frame, only what is on it is drawn. */
const fastScreens = 0.5;
/** After this time without moving, what is around it is drawn too. */
const settleMs = 100;
/** More are dropped again, such as those that were drawn before their heights were known. */
const maxRows = 120;
const nearStart = 2_000;
/** Pixels from the end that count as being there. */
const endSlack = 40;

interface State {
  range: Range;
}

export class VirtualList<T extends { key: string }> extends Component<VirtualListProps<T>, State> {
  override state: State = { range: { start: 0, end: 0 } };
  readonly #scroller = createRef<HTMLDivElement>();
  readonly #before = createRef<HTMLDivElement>();
  readonly #after = createRef<HTMLDivElement>();
  /** Measured heights by key. */
  readonly #heights = new Map<string, number>();
  #heightSum = 0;
  /** The keys of what is drawn. */
  readonly #elements = new Map<Element, string>();
  readonly #rows: RowList = {
    add: (element, key) => {
      this.#elements.set(element, key);
      this.#observer.observe(element);
    },
    remove: (element) => {
      this.#elements.delete(element);
      this.#observer.unobserve(element);
    },
  };
  /** The items that `#offsets` are of. */
  #items: readonly T[] = [];
  #offsets: Float64Array = new Float64Array(1);
  #isAtEnd = true;
  /** From `scrollTo` until the next frame: what is drawn there is measured at once. */
  #isGoing = false;
  #isFast = false;
  /** Where it was when it was last looked at: anything else means that the reader has moved. */
  #lastTop = 0;
  #frame = 0;
  #settling = 0;
  /** The item that stays where it is on the screen when what is above it changes its height. */
  #anchor: { key: string; top: number } | undefined;
  readonly #observer = new ResizeObserver((changes) => {
    this.#measure(changes.map(({ target }) => target));
    if (this.#isGoing) this.#arrive();
  });

  constructor(props: VirtualListProps<T>) {
    super(props);
    props.onCreate?.(this);
  }

  /** Brings the end to the screen. */
  scrollToEnd(): void {
    if (this.props.followsEnd) this.#setAtEnd(true);
    const scroller = this.#scroller.current;
    if (scroller) this.#moveTo(scroller, scroller.scrollHeight);
  }

  /** Brings an item to the top of the screen. It stays there while what is above it gets its real height. */
  scrollTo(key: string): void {
    // A layout effect of the component around the list runs before `componentDidMount` and `componentDidUpdate` of the list.
    if (this.#items !== this.props.items) this.#layOut();
    const scroller = this.#scroller.current;
    const index = this.#items.findIndex((item) => item.key === key);
    if (!scroller || index < 0) return;
    this.#setAtEnd(false);
    this.#isGoing = true;
    // The observer reports in the next frame, even if nothing else is drawn.
    this.#observer.unobserve(scroller);
    this.#observer.observe(scroller);
    this.#anchor = { key, top: 0 };
    this.#moveTo(scroller, this.#offsets[index]!);
    this.#setRange(scroller);
  }

  override componentDidMount(): void {
    this.#observer.observe(this.#scroller.current!);
    this.#layOut();
  }

  override componentWillUnmount(): void {
    this.#observer.disconnect();
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#settling);
  }

  override componentDidUpdate(): void {
    if (this.#items !== this.props.items) this.#layOut();
    else this.#place();
    if (this.#isGoing) this.#measure([...this.#elements.keys()]);
  }

  override render({ items, draw, label, role }: VirtualListProps<T>, { range }: State): ComponentChildren {
    return (
      <div
        class="scroller"
        ref={this.#scroller}
        onScroll={this.#onScroll}
        tabIndex={0}
        role={role ?? "list"}
        aria-label={label}
        aria-live="off"
      >
        <div ref={this.#before} aria-hidden="true" />
        {items.slice(range.start, range.end).map((item) => (
          <Row
            key={item.key}
            item={item}
            draw={draw as (item: never) => ComponentChildren}
            list={this.#rows}
            role={role === "log" ? undefined : "listitem"}
          />
        ))}
        <div ref={this.#after} aria-hidden="true" />
      </div>
    );
  }

  readonly #onScroll = (): void => {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#takeScroll();
    });
  };

  #takeScroll(): void {
    const scroller = this.#scroller.current;
    if (!scroller) return;
    this.#isFast = Math.abs(scroller.scrollTop - this.#lastTop) > fastScreens * scroller.clientHeight;
    this.#takePosition(scroller);
    this.#setRange(scroller);
    clearTimeout(this.#settling);
    if (this.#isFast) this.#settling = window.setTimeout(this.#settle, settleMs);
    if (scroller.scrollTop < nearStart) this.props.onNearStart?.();
  }

  readonly #settle = (): void => {
    this.#isFast = false;
    if (this.#scroller.current) this.#setRange(this.#scroller.current);
  };

  /** Where the reader has moved to. */
  #takePosition({ scrollTop, scrollHeight, clientHeight }: HTMLDivElement): void {
    const restHeight = scrollHeight - scrollTop - clientHeight;
    const moved = scrollTop - this.#lastTop;
    this.#lastTop = scrollTop;
    // Where items turn out shorter than estimated, it is the browser that moves back to the end, and not the reader.
    if (this.#isGoing) return;
    // It grows while it is drawn, so being short of the end matters only for a reader who went back, however little.
    if (restHeight <= 1 || (moved > 0 && restHeight <= endSlack)) this.#setAtEnd(true);
    else if (moved < 0) this.#setAtEnd(false);
    this.#anchor = this.#findAnchor(scrollTop);
  }

  #moveTo(scroller: HTMLDivElement, top: number): void {
    scroller.scrollTop = top;
    this.#lastTop = scroller.scrollTop;
  }

  #findAnchor(top: number): { key: string; top: number } | undefined {
    const index = findIndex(this.#offsets, top);
    const item = this.#items[index];
    return item && { key: item.key, top: this.#offsets[index]! - top };
  }

  /** The items are others. */
  #layOut(): void {
    this.#change(() => {
      const { items, estimatedHeight } = this.props;
      const before = this.#items;
      let kept = 0;
      while (kept < items.length && items[kept] === before[kept]) kept++;
      const count = this.#heights.size;
      const estimate = count === 0 ? estimatedHeight : this.#heightSum / count;
      const heights = items.slice(kept).map(({ key }) => this.#heights.get(key) ?? estimate);
      this.#offsets = getOffsets(this.#offsets, kept, heights);
      this.#items = items;
    });
  }

  /** Does something that moves items, and keeps what the reader sees where it is. */
  #change(move: () => void): void {
    const scroller = this.#scroller.current;
    // A reader who has moved in this frame must not be taken back.
    if (scroller && scroller.scrollTop !== this.#lastTop) this.#takePosition(scroller);
    move();
    if (!scroller) return;
    this.#place();
    if (this.props.followsEnd && this.#isAtEnd) this.#moveTo(scroller, scroller.scrollHeight);
    else this.#restoreAnchor(scroller);
    this.#setRange(scroller);
    if (scroller.scrollTop < nearStart) this.props.onNearStart?.();
  }

  #restoreAnchor(scroller: HTMLDivElement): void {
    const anchor = this.#anchor;
    const index = anchor ? this.#items.findIndex(({ key }) => key === anchor.key) : -1;
    if (!anchor || index < 0) return;
    const top = this.#offsets[index]! - anchor.top;
    if (Math.abs(top - scroller.scrollTop) > 1) this.#moveTo(scroller, top);
  }

  /** Gives what is not drawn its room. */
  #place(): void {
    const { start, end } = this.state.range;
    const count = this.#offsets.length - 1;
    const last = Math.min(end, count);
    setHeight(this.#before.current, this.#offsets[Math.min(start, count)]!);
    setHeight(this.#after.current, this.#offsets[count]! - this.#offsets[last]!);
  }

  #setRange({ scrollTop: top, clientHeight: height }: HTMLDivElement): void {
    const needed = findRange(this.#offsets, { top, height, margin: this.#isFast ? 0 : minMargin });
    const { start, end } = this.state.range;
    const hasAll = start <= needed.start && end >= needed.end && end < this.#offsets.length;
    if (hasAll && end - start < maxRows) this.#place();
    else this.setState({ range: this.#isFast ? needed : findRange(this.#offsets, { top, height, margin }) });
  }

  #setAtEnd(isAtEnd: boolean): void {
    if (isAtEnd === this.#isAtEnd) return;
    this.#isAtEnd = isAtEnd;
    this.props.onAtEnd?.(isAtEnd);
  }

  #measure(elements: readonly Element[]): void {
    const heights = new Map<string, number>();
    for (const element of elements) {
      const key = this.#elements.get(element);
      if (key === undefined || !element.isConnected) continue;
      const { height } = element.getBoundingClientRect();
      if (this.#heights.get(key) !== height) heights.set(key, height);
    }
    const isResized = this.#scroller.current !== null && elements.includes(this.#scroller.current);
    if (isResized || heights.size > 0) this.#change(() => this.#takeHeights(heights));
  }

  #arrive(): void {
    this.#isGoing = false;
    if (this.#scroller.current) this.#takePosition(this.#scroller.current);
  }

  /** Only of what is drawn. */
  #takeHeights(heights: ReadonlyMap<string, number>): void {
    for (const [key, height] of heights) {
      this.#heightSum += height - (this.#heights.get(key) ?? 0);
      this.#heights.set(key, height);
    }
    const { start, end } = this.state.range;
    for (let index = start; index < Math.min(end, this.#items.length); index++) {
      const height = heights.get(this.#items[index]!.key);
      if (height !== undefined) changeHeight(this.#offsets, index, height);
    }
  }
}

interface RowList {
  add(element: Element, key: string): void;
  remove(element: Element): void;
}

interface RowProps {
  item: { key: string };
  draw: (item: never) => ComponentChildren;
  list: RowList;
  role: "listitem" | undefined;
}

/** It is drawn again only for another item, and measured as long as it is there. */
class Row extends Component<RowProps> {
  readonly #element = createRef<HTMLDivElement>();

  override shouldComponentUpdate({ item, draw }: RowProps): boolean {
    return item !== this.props.item || draw !== this.props.draw;
  }

  override componentDidMount(): void {
    this.props.list.add(this.#element.current!, this.props.item.key);
  }

  override componentWillUnmount(): void {
    if (this.#element.current) this.props.list.remove(this.#element.current);
  }

  override render({ item, draw, role }: RowProps): ComponentChildren {
    return (
      <div class="row" ref={this.#element} role={role}>
        {draw(item as never)}
      </div>
    );
  }
}

function setHeight(element: HTMLElement | null, height: number): void {
  if (element) element.style.height = `${height}px`;
}
