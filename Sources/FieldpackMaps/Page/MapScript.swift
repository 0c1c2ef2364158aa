/// The script of a page with a map: it moves and zooms the map and shows attributes.
///
/// The text is the same for every map, so that a page can name its digest and run no other script. It
/// writes texts only as text, never as markup.
enum MapScript {
  static let text = #"""
    (() => {
    'use strict';
    const at = id => document.getElementById(id);
    const map = at('map'), panel = at('panel'), bar = at('bar'), status = at('status');
    const data = JSON.parse(at('data').textContent);
    const box = map.viewBox.baseVal, home = [box.x, box.y, box.width, box.height];
    const most = 256;
    let view = [...home], chosen = null, waiting = false;
    const labels = [...map.querySelectorAll('.n text')].map(node => ({
      node, x: +node.getAttribute('x'), y: +node.getAttribute('y'), w: +node.dataset.w,
      r: +node.dataset.r, middle: 'm' in node.dataset }));
    const marks = [...map.querySelectorAll('[data-i]')];

    // Pixels of the screen in a unit of the drawing, and what the window shows around the view.
    const scale = () => Math.min(map.clientWidth / view[2], map.clientHeight / view[3]) || 1;
    const edge = k => [
      view[0] - (map.clientWidth / k - view[2]) / 2, view[1] - (map.clientHeight / k - view[3]) / 2];
    const draw = () => { if (!waiting) { waiting = true; requestAnimationFrame(show); } };
    function show() {
      waiting = false;
      map.setAttribute('viewBox', view.join(' '));
      const k = scale(), zoom = home[2] / view[2];
      map.style.setProperty('--u', 1 / k);
      const level = Math.floor(Math.log2(zoom) + 0.01);
      for (let i = 1; i < 6; i++) map.classList.toggle('s' + i, level >= i);
      place(k);
      measure(k);
      document.body.dataset.zoom = zoom.toFixed(2);
    }

    // Labels that overlap none before them; the others are told where the pointer rests.
    function place(k) {
      const [left, top] = edge(k), taken = new Map(), size = 12;
      for (const label of labels) {
        const x = (label.x - left) * k, y = (label.y - top) * k, gap = label.r + 3;
        const places = label.middle ? [[x, y + 4, 'middle']] : [
          [x + gap, y + 4, 'start'], [x - gap, y + 4, 'end'], [x, y - gap - 2, 'middle'],
          [x, y + gap + 9, 'middle']];
        let found = null;
        if (x >= 0 && y >= 0 && x <= map.clientWidth && y <= map.clientHeight) {
          for (const p of places) {
            const west = p[2] === 'start' ? p[0] : p[2] === 'end' ? p[0] - label.w : p[0] - label.w / 2;
            const b = [west, p[1] - size, west + label.w, p[1] + 5];
            if (b[0] < 0 || b[1] < 0 || b[2] > map.clientWidth || b[3] > map.clientHeight) continue;
            if (take(taken, b)) { found = p; break; }
          }
        }
        if (found) {
          label.node.setAttribute('x', found[0] / k + left);
          label.node.setAttribute('y', found[1] / k + top);
          label.node.setAttribute('text-anchor', found[2]);
          label.node.removeAttribute('visibility');
        } else label.node.setAttribute('visibility', 'hidden');
      }
    }
    function take(taken, b) {
      const cells = [];
      for (let x = b[0] >> 6; x <= b[2] >> 6; x++)
        for (let y = b[1] >> 6; y <= b[3] >> 6; y++) {
          const key = x + ',' + y;
          for (const o of taken.get(key) || [])
            if (b[0] < o[2] && o[0] < b[2] && b[1] < o[3] && o[1] < b[3]) return false;
          cells.push(key);
        }
      for (const key of cells) taken.has(key) ? taken.get(key).push(b) : taken.set(key, [b]);
      return true;
    }
    function measure(k) {
      if (!data.metres) return;
      const metres = data.metres / k * 140;
      let step = 10 ** Math.floor(Math.log10(metres));
      if (step * 5 <= metres) step *= 5; else if (step * 2 <= metres) step *= 2;
      bar.style.width = step / data.metres * k + 'px';
      bar.textContent = step >= 1000 ? step / 1000 + ' km'
        : step >= 1 ? step + ' m' : +(step * 1000).toPrecision(1) + ' mm';
    }

    // MARK: Moving
    function zoomAt(factor, px, py) {
      const zoom = Math.max(1, Math.min(most, home[2] / view[2] * factor));
      const k = scale(), [left, top] = edge(k), x = left + px / k, y = top + py / k;
      view[2] = home[2] / zoom;
      view[3] = home[3] / zoom;
      const m = scale();
      view[0] = x - px / m + (map.clientWidth / m - view[2]) / 2;
      view[1] = y - py / m + (map.clientHeight / m - view[3]) / 2;
      keep();
    }
    function zoom(factor) { zoomAt(factor, map.clientWidth / 2, map.clientHeight / 2); }
    function move(dx, dy) {
      const k = scale();
      view[0] -= dx / k;
      view[1] -= dy / k;
      keep();
    }
    // Half of the view stays on the map.
    function keep() {
      for (const i of [0, 1]) {
        const low = home[i] - view[i + 2] / 2, high = home[i] + home[i + 2] - view[i + 2] / 2;
        view[i] = Math.max(low, Math.min(high, view[i]));
      }
      draw();
    }
    function reset() { view = [...home]; draw(); }

    const fingers = new Map();
    let moved = 0, spread = 0;
    map.addEventListener('wheel', e => {
      e.preventDefault();
      const r = map.getBoundingClientRect();
      zoomAt(2 ** (-e.deltaY * (e.deltaMode ? 20 : 1) / 300), e.clientX - r.left, e.clientY - r.top);
    }, { passive: false });
    map.addEventListener('pointerdown', e => {
      fingers.set(e.pointerId, [e.clientX, e.clientY]);
      if (fingers.size === 1) moved = 0;
      spread = 0;
    });
    map.addEventListener('pointermove', e => {
      const last = fingers.get(e.pointerId);
      if (!last) return;
      const dx = e.clientX - last[0], dy = e.clientY - last[1];
      fingers.set(e.pointerId, [e.clientX, e.clientY]);
      moved += Math.abs(dx) + Math.abs(dy);
      if (moved > 4) map.setPointerCapture(e.pointerId);
      move(dx / fingers.size, dy / fingers.size);
      if (fingers.size !== 2) return;
      const [a, b] = [...fingers.values()], r = map.getBoundingClientRect();
      const now = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (spread > 0) zoomAt(now / spread, (a[0] + b[0]) / 2 - r.left, (a[1] + b[1]) / 2 - r.top);
      spread = now;
    });
    const lift = e => { fingers.delete(e.pointerId); spread = 0; };
    map.addEventListener('pointercancel', lift);
    map.addEventListener('pointerup', e => {
      lift(e);
      if (moved > 4) return;
      // A finger is not as sharp as a point on the map.
      for (const [dx, dy] of [[0, 0], [5, 0], [-5, 0], [0, 5], [0, -5]]) {
        const hit = document.elementFromPoint(e.clientX + dx, e.clientY + dy);
        const mark = hit && hit.closest('#map [data-i]');
        if (mark) return choose(mark);
      }
      close();
    });
    map.addEventListener('dblclick', e => {
      const r = map.getBoundingClientRect();
      zoomAt(2, e.clientX - r.left, e.clientY - r.top);
    });

    // MARK: Attributes
    function add(parent, name, text) {
      const node = document.createElement(name);
      if (text !== undefined) node.textContent = text;
      parent.append(node);
      return node;
    }
    function choose(mark) {
      for (const node of map.querySelectorAll('.chosen')) node.classList.remove('chosen');
      chosen = mark;
      const [layer, row] = mark.dataset.i.split('-').map(Number);
      for (const node of map.querySelectorAll('[data-i="' + layer + '-' + row + '"]'))
        node.classList.add('chosen');
      const { name, columns, rows } = data.layers[layer];
      panel.replaceChildren();
      const head = add(panel, 'h2', name), table = add(panel, 'table');
      const shut = add(head, 'button', '×');
      shut.setAttribute('aria-label', 'Close');
      shut.addEventListener('click', close);
      columns.forEach((column, i) => {
        const line = add(table, 'tr'), value = rows[row][i];
        add(line, 'th', column).scope = 'row';
        add(line, 'td', value === null ? '–' : String(value));
      });
      panel.hidden = false;
    }
    function close() {
      for (const node of map.querySelectorAll('.chosen')) node.classList.remove('chosen');
      panel.hidden = true;
      map.focus({ preventScroll: true });
    }
    // The next feature in the order of the layers, brought into view.
    function step(by) {
      if (!marks.length) return;
      let i = marks.indexOf(chosen);
      i = i < 0 ? (by > 0 ? 0 : marks.length - 1) : (i + by + marks.length) % marks.length;
      const b = marks[i].getBBox(), x = b.x + b.width / 2, y = b.y + b.height / 2;
      if (x < view[0] || x > view[0] + view[2] || y < view[1] || y > view[1] + view[3]) {
        view[0] = x - view[2] / 2;
        view[1] = y - view[3] / 2;
        keep();
      }
      choose(marks[i]);
      status.textContent = panel.innerText;
    }

    const keys = {
      ArrowLeft: () => move(80, 0), ArrowRight: () => move(-80, 0), ArrowUp: () => move(0, 80),
      ArrowDown: () => move(0, -80), '+': () => zoom(1.5), '=': () => zoom(1.5),
      '-': () => zoom(1 / 1.5), '0': reset, Home: reset, n: () => step(1), p: () => step(-1),
      Escape: close };
    document.addEventListener('keydown', e => {
      const key = keys[e.key];
      if (!key || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      key();
    });
    at('in').addEventListener('click', () => zoom(1.5));
    at('out').addEventListener('click', () => zoom(1 / 1.5));
    at('all').addEventListener('click', reset);
    addEventListener('resize', draw);
    show();
    })();

    """#
}
