/// How a page with a map looks on a light ground; a dark one changes colours.
enum MapPageStyle {
  static let text = """
    :root { --ground: #fafafa; --card: #fffffff2; --ink: #222; --faint: #666; --rim: #ccc;
      color-scheme: light dark; }
    @media (prefers-color-scheme: dark) { :root { --ground: #26292c; --card: #1c1e21f2;
      --ink: #e8e8e8; --faint: #a9a9a9; --rim: #555; } }
    * { box-sizing: border-box; }
    body { margin: 0; height: 100vh; overflow: hidden; background: var(--ground);
      color: var(--ink); font: 14px/1.4 system-ui, 'DejaVu Sans', sans-serif; }
    h1, nav, footer, #legend, #panel { position: fixed; background: var(--card);
      border: 1px solid var(--rim); border-radius: 6px; margin: 0; }
    h1 { top: 10px; left: 10px; max-width: calc(100vw - 90px); padding: 4px 12px; font-size: 17px;
      overflow-wrap: anywhere; }
    #map { display: block; width: 100vw; height: 100vh; touch-action: none; cursor: grab; }
    #map:focus-visible { outline: 3px solid #56B4E9; outline-offset: -3px; }
    #map path, #map circle { vector-effect: non-scaling-stroke; }
    #map circle { r: calc(var(--r, 3.5) * var(--u, 8) * 1px); }
    #map [data-i] { cursor: pointer; }
    #map .chosen { stroke: #e000c0; stroke-width: 3.5px; }
    .n text { font-size: calc(12px * var(--u, 8)); stroke-width: calc(3px * var(--u, 8));
      pointer-events: none; }
    .z { display: none; }
    .s1 .z1, .s2 .z2, .s3 .z3, .s4 .z4, .s5 .z5 { display: inline; }
    nav { top: 10px; right: 10px; display: grid; overflow: hidden; }
    nav button { width: 40px; height: 40px; font-size: 20px; border: 0; background: none;
      color: inherit; cursor: pointer; }
    button:focus-visible { outline: 2px solid #56B4E9; outline-offset: -2px; }
    footer { bottom: 10px; right: 10px; padding: 4px 10px; font-size: 12px; color: var(--faint);
      display: flex; gap: 16px; align-items: end; max-width: calc(100vw - 20px); flex-wrap: wrap; }
    #bar { border: solid var(--faint); border-width: 0 1.5px 1.5px; text-align: center; }
    #bar:empty { display: none; }
    #legend { bottom: 10px; left: 10px; padding: 6px 12px; max-height: 45vh; overflow: auto;
      max-width: min(340px, 60vw); }
    #legend summary { cursor: pointer; font-weight: 600; }
    #legend ul { list-style: none; margin: 4px 0; padding: 0; }
    #legend li { display: flex; gap: 6px; align-items: center; overflow-wrap: anywhere; }
    #legend svg { flex: none; }
    #legend .head { font-weight: 600; margin-top: 6px; }
    #panel { top: 56px; left: 10px; max-width: min(420px, calc(100vw - 80px)); max-height: 42vh;
      overflow: auto; padding: 8px 12px; }
    #panel h2 { margin: 0 0 4px; font-size: 15px; display: flex; justify-content: space-between;
      gap: 12px; }
    #panel button { border: 0; background: none; color: inherit; font-size: 18px; line-height: 1;
      cursor: pointer; }
    #panel th { text-align: left; font-weight: 500; color: var(--faint); padding-right: 12px;
      vertical-align: top; }
    #panel td { overflow-wrap: anywhere; white-space: pre-wrap; }
    #status { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
      margin: 0; }
    @media print { nav { display: none; } }
    """
}
