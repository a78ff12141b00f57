/** Turns values of cells of Python into text, JSON, images and tables. */
export const values = String.raw`
def simple(value):
    if hasattr(value, "columns") and hasattr(value, "shape"):
        return to_records(value)
    size = getattr(value, "size", 0)
    if isinstance(size, int) and size > MAX_CELLS:
        raise TypeError("not JSON: too large")
    for name in ("tolist", "item", "isoformat"):
        method = getattr(value, name, None)
        if callable(method):
            return method()
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError("not JSON: " + type(value).__name__)

def to_records(frame):
    if frame.shape[0] * frame.shape[1] > MAX_CELLS:
        raise TypeError("not JSON: too large")
    if hasattr(frame, "to_dicts"):
        return frame.to_dicts()
    # Its own JSON has null where a value is missing.
    return get_json().loads(frame.to_json(orient="records", date_format="iso"))

def to_json(value):
    json = get_json()
    # Writing a value as JSON that is too long anyway may take minutes.
    if type(value) in SEQUENCES and len(value) > MAX_VALUE:
        return None
    try:
        text = json.dumps(value, default=simple, allow_nan=False)
    except Exception:
        return None
    return None if len(text) > MAX_VALUE else json.loads(text)

SEQUENCES = (str, bytes, bytearray, list, tuple)

def to_text(value):
    # The start of a sequence is all of its text that is shown.
    is_long = type(value) in SEQUENCES and len(value) > MAX_TEXT
    return repr(value[:MAX_TEXT] if is_long else value)[:MAX_TEXT]

def to_png(value):
    if isinstance(value, (bytes, bytearray)):
        return bytes(value) if value.startswith(PNG) else None
    if is_figure(value):
        return save_png(lambda buffer: value.savefig(buffer, format="png", bbox_inches="tight"))
    if type(value).__module__.startswith("PIL.") and callable(getattr(value, "convert", None)):
        # PNG does not have every mode that an image can have.
        known = value if value.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I") else value.convert("RGB")
        return save_png(lambda buffer: known.save(buffer, format="PNG"))
    png = getattr(value, "_repr_png_", None)
    data = png() if callable(png) else None
    return data if isinstance(data, bytes) and data.startswith(PNG) else None

def is_figure(value):
    return type(value).__name__ == "Figure" and callable(getattr(value, "savefig", None))

def save_png(save):
    buffer = load("io").BytesIO()
    save(buffer)
    return buffer.getvalue()

def to_table(value):
    columns = getattr(value, "columns", None)
    if columns is None or type(getattr(value, "shape", None)) is not tuple:
        return None
    if hasattr(value, "itertuples"):
        rows = value.head(MAX_ROWS).itertuples(index=True)
        names = [""] + [str(name) for name in columns]
    elif hasattr(value, "iter_rows"):
        rows, names = value.head(MAX_ROWS).iter_rows(), [str(name) for name in columns]
    else:
        return None
    more = len(names) - MAX_COLUMNS
    last = ["\u2026 (%d more columns)" % more] if more > 0 else []
    return {
        "columns": [name[:200] for name in names[:MAX_COLUMNS]] + last,
        "rows": [[str(cell)[:200] for cell in list(row)[:MAX_COLUMNS]] + ["\u2026" for _ in last] for row in rows],
        "total": int(value.shape[0]),
    }

def show(value, is_result=False):
    """Sends an image or a table. Says whether the value was one."""
    if is_figure(value):
        shown_figures.append(value)
    try:
        png = to_png(value)
        table = None if png else to_table(value)
    except Exception as error:
        png, table = None, None
        if not is_result:
            print("display:", error, file=sys.stderr)
    if png and len(png) > MAX_PNG:
        print("[An image of %d bytes is too large to be shown.]" % len(png))
        return True
    if png:
        send("Display", id=scope.get(), png=load("base64").b64encode(png).decode())
        return True
    if table:
        send("Display", id=scope.get(), table=table)
        return True
    return False

def display(*values):
    flush()
    for value in values:
        if show(value):
            continue
        data = to_json(value) if isinstance(value, (dict, list, tuple)) else None
        if data is not None:
            send("Display", id=scope.get(), json=data)
        else:
            text = value[:MAX_TEXT] if isinstance(value, str) else to_text(value)
            send("Display", id=scope.get(), text=text)

def show_figures(result):
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        # Each is shown once: by the cell itself, here, or as the result.
        if figure is not result and not any(figure is shown for shown in shown_figures):
            show(figure)
    pyplot.close("all")
`;
