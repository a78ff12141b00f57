/** A long list of which only what is on the screen, and a little around it, is drawn. Items may have any height. */
import { Component, type ComponentChildren, createRef } from "preact";
import { findIndex, findRange, getOffsets, type Range } from "./ranges.ts";

export interface VirtualListProps<T extends { key: string }> {
  items: readonly T[];
  draw: (item: T) => ComponentChildren;
  /** In pixels, for items that were never drawn. */
  estimatedHeight: number;
  label: string;
  /** Whether it stays at its end while it grows, unless the reader has scrolled away. */
  followsEnd?: boolean;
  /** Gets the list, for `scrollToEnd`. */
  onMount?: (list: VirtualList<T>) => void;
  /** The beginning comes near. */
  onNearStart?: () => void;
  /** Whether the end is on the screen. */
  onAtEnd?: (isAtEnd: boolean) => void;
  role?: "log" | "list";
}

/** How far beyond the screen items are drawn, and when the next ones are. */
const margin = 1_000;
const minMargin = 800;
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
  #offsets: Float64Array = new Float64Array(1);
  #isAtEnd = true;
  #lastTop = 0;
  #frame = 0;
  /** The item that stays where it is on the screen when what is above it changes its height. */
  #anchor: { key: string; top: number } | undefined;
  readonly #observer = new ResizeObserver((changes) => this.#measure(changes));

  /** Brings the end to the screen. */
  scrollToEnd(): void {
    if (this.props.followsEnd) this.#setAtEnd(true);
    const scroller = this.#scroller.current;
    if (scroller) scroller.scrollTop = scroller.scrollHeight;
  }

  override componentDidMount(): void {
    this.props.onMount?.(this);
    this.#observer.observe(this.#scroller.current!);
    this.#update();
  }

  override componentWillUnmount(): void {
    this.#observer.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  override componentDidUpdate(before: VirtualListProps<T>): void {
    if (before.items !== this.props.items) this.#update();
    else this.#place();
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
          <Row key={item.key} item={item} draw={draw as (item: never) => ComponentChildren} list={this.#rows} />
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
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    // It grows while it is drawn, so being short of the end counts only for a reader who went back.
    const isBack = scrollTop < this.#lastTop - 1;
    if (scrollHeight - scrollTop - clientHeight <= endSlack) this.#setAtEnd(true);
    else if (isBack) this.#setAtEnd(false);
    this.#lastTop = scrollTop;
    this.#anchor = this.#findAnchor(scrollTop);
    this.#setRange(scrollTop, clientHeight);
    if (scrollTop < nearStart) this.props.onNearStart?.();
  }

  #findAnchor(top: number): { key: string; top: number } | undefined {
    const index = findIndex(this.#offsets, top);
    const item = this.props.items[index];
    return item && { key: item.key, top: this.#offsets[index]! - top };
  }

  /** The items or their heights have changed. */
  #update(): void {
    const { items, estimatedHeight, followsEnd } = this.props;
    this.#offsets = getOffsets(items.map(({ key }) => this.#heights.get(key) ?? estimatedHeight));
    const scroller = this.#scroller.current;
    if (!scroller) return;
    this.#place();
    if (followsEnd && this.#isAtEnd) scroller.scrollTop = scroller.scrollHeight;
    else this.#restoreAnchor(scroller);
    this.#setRange(scroller.scrollTop, scroller.clientHeight);
    if (scroller.scrollTop < nearStart) this.props.onNearStart?.();
  }

  #restoreAnchor(scroller: HTMLDivElement): void {
    const anchor = this.#anchor;
    const index = anchor ? this.props.items.findIndex(({ key }) => key === anchor.key) : -1;
    if (!anchor || index < 0) return;
    const top = this.#offsets[index]! - anchor.top;
    if (Math.abs(top - scroller.scrollTop) > 1) scroller.scrollTop = top;
  }

  /** Gives what is not drawn its room. */
  #place(): void {
    const { start, end } = this.state.range;
    const count = this.#offsets.length - 1;
    const last = Math.min(end, count);
    setHeight(this.#before.current, this.#offsets[Math.min(start, count)]!);
    setHeight(this.#after.current, this.#offsets[count]! - this.#offsets[last]!);
  }

  #setRange(top: number, height: number): void {
    const needed = findRange(this.#offsets, { top, height, margin: minMargin });
    const { start, end } = this.state.range;
    const hasAll = start <= needed.start && end >= needed.end && end < this.#offsets.length;
    if (hasAll && end - start < maxRows) this.#place();
    else this.setState({ range: findRange(this.#offsets, { top, height, margin }) });
  }

  #setAtEnd(isAtEnd: boolean): void {
    if (isAtEnd === this.#isAtEnd) return;
    this.#isAtEnd = isAtEnd;
    this.props.onAtEnd?.(isAtEnd);
  }

  #measure(changes: readonly ResizeObserverEntry[]): void {
    let hasChanged = false;
    for (const { target, borderBoxSize } of changes) {
      const key = this.#elements.get(target);
      if (target === this.#scroller.current) hasChanged = true;
      const height = borderBoxSize[0]?.blockSize ?? 0;
      if (key === undefined || !target.isConnected || this.#heights.get(key) === height) continue;
      this.#heights.set(key, height);
      hasChanged = true;
    }
    if (hasChanged) this.#update();
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

  override render({ item, draw }: RowProps): ComponentChildren {
    return (
      <div class="row" ref={this.#element}>
        {draw(item as never)}
      </div>
    );
  }
}

function setHeight(element: HTMLElement | null, height: number): void {
  if (element) element.style.height = `${height}px`;
}
