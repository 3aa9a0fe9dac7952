'use strict';
// Everything can be read without this: it marks a trial in all pictures at once, closes
// its panel with Escape, sorts and filters, and keeps a live page up to date. There it also follows what a
// trial prints, and sends what its user orders.
(() => {
  let marks = new Map(), lit = [];
  const index = () => {
    marks = new Map();
    for (const a of document.querySelectorAll('svg a, tr[id]')) {
      const key = a.id ? '#' + a.id.slice(1) : a.getAttribute('href');
      marks.has(key) ? marks.get(key).push(a) : marks.set(key, [a]);
    }
    for (const w of works) w.refresh();
  };
  const tip = document.createElement('div');
  tip.id = 'tip';
  tip.hidden = true;
  document.body.append(tip);
  const light = key => {
    for (const e of lit) e.classList.remove('on');
    lit = key && marks.get(key) || [];
    for (const e of lit) e.classList.add('on');
  };
  const keyOf = e => {
    const a = e.target.closest && e.target.closest('svg a, tr[id]');
    return a && (a.id ? '#' + a.id.slice(1) : a.getAttribute('href'));
  };
  document.addEventListener('mouseover', e => {
    const key = keyOf(e), panel = key && document.getElementById(key.slice(1));
    light(key);
    tip.hidden = !panel;
    if (panel) tip.textContent = panel.dataset.tip;
  });
  document.addEventListener('mousemove', e => {
    if (tip.hidden) return;
    tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
    tip.style.top = Math.min(e.clientY + 14, innerHeight - tip.offsetHeight - 8) + 'px';
  });
  document.addEventListener('click', e => {
    tip.hidden = true;
    const to = e.target.closest('a[href^="#"]');
    const folded = to && document.getElementById(to.getAttribute('href').slice(1))?.closest('details');
    if (folded) folded.open = true;
  });
  document.addEventListener('keydown', e => { if (e.key === 'Escape' && !document.querySelector('dialog') && !works.map(w => w.clear()).some(done => done)) location.hash = '#top'; });

  // What a study's user has chosen, and what follows of it: kept beside the parts, which are replaced.
  const add = (to, name, more) => to.appendChild(Object.assign(document.createElement(name), more));
  const facts = new WeakMap(); // of trials, by their panels
  const factsOf = panel => {
    if (!facts.has(panel)) {
      const of = new Map(), seconds = new Map();
      const rows = [...panel.querySelectorAll('tr')].map(row => [row.cells[0].textContent, row.cells[1].textContent, row.cells[1].dataset.seconds]);
      for (const [name, text, s] of [...rows, ['state', panel.dataset.state]]) if (!of.has(name)) { // a parameter may be called took
        of.set(name, text);
        if (s) seconds.set(name, s);
      }
      facts.set(panel, {of, seconds, text: (panel.dataset.tip + [...of.values()].join('\n')).toLowerCase()});
    }
    return facts.get(panel);
  };
  const compare = {'<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b, '=': (a, b) => a === b, '!=': (a, b) => a !== b};
  const filterOf = text => {
    const all = text.split(',').map(t => t.trim()).filter(t => t).map(term => {
      const [, name, how, want] = /^(.+?)\s*(<=|>=|!=|<|>|=)\s*(.+)$/.exec(term) || [];
      if (!name) return f => f.text.includes(term.toLowerCase());
      return f => {
        const have = f.of.get(name), n = +(f.seconds.get(name) ?? have);
        if (have === undefined) return false;
        return Number.isFinite(+want) && Number.isFinite(n) ? compare[how](n, +want) : /^!?=$/.test(how) && compare[how](have, want);
      };
    });
    return f => all.every(ok => ok(f));
  };
  const pointsOf = path => (path.getAttribute('d').match(/[-\d.]+ [-\d.]+/g) || []).map(p => p.split(' ').map(Number));
  const namesOf = texts => texts.map((t, i) => t + '\n'.repeat(texts.slice(0, i).filter(u => u === t).length)); // each by itself
  const linesOf = svg => {
    const names = namesOf(svg.querySelector('desc').textContent.split('\n'));
    return [...svg.querySelectorAll('line.axis')].map((l, i) => ({name: names[i], x: +l.getAttribute('x1'), top: +l.getAttribute('y2'), low: +l.getAttribute('y1')}));
  };

  let dragging = false; // an axis, and the parts that have come meanwhile
  const waiting = [];
  const work = cards => {
    const key = cards.id.slice(0, -5), el = id => document.getElementById(key + id);
    const chosen = {sort: '', down: false, hide: new Set(), brush: new Map(), log: null};
    let flags = new Map(); // of trials: which are gone, out, faded
    const bar = document.createElement('form');
    bar.className = 'tools';
    cards.before(bar);
    const option = (to, value, text) => add(to, 'option', {value, textContent: text});
    const label = (text, name, more) => add(add(bar, 'label', {textContent: text}), name, more);
    const filter = label('Filter ', 'input', {type: 'search', size: 24, placeholder: 'lr < 0.01, adam'});
    const state = label('Status ', 'select');
    const best = label('Show ', 'select');
    option(best, 1, 'all'); option(best, 0.5, 'the best half'); option(best, 0.1, 'the best tenth');
    const log = label('Logarithmic ', 'input', {type: 'checkbox'});
    const columns = add(bar, 'details');
    add(columns, 'summary', {textContent: 'Columns'});
    const names = add(columns, 'div'), count = add(bar, 'output');
    bar.addEventListener('submit', e => { e.preventDefault(); e.stopPropagation(); });
    filter.oninput = state.onchange = best.onchange = () => { select(); apply(document); };
    log.onchange = () => { chosen.log = log.checked; redraw(cards); };

    const select = () => {
      const panels = [...el('trials').children], order = (cards.querySelector('.order')?.value || '').split(/\s/).filter(n => n);
      const keep = new Set(order.slice(0, Math.ceil(order.length * best.value))), ok = filterOf(filter.value);
      const states = [...new Set(panels.map(p => p.dataset.state))];
      if (state.childElementCount !== states.length + 1) {
        const was = state.value;
        state.replaceChildren();
        option(state, '', 'any');
        for (const s of states) option(state, s, s);
        state.value = states.includes(was) ? was : '';
      }
      const all = !filter.value.trim() && !state.value && best.value === '1' && !chosen.brush.size, within = brushed();
      let shown = 0;
      flags = new Map();
      count.value = '';
      if (all) return;
      for (const p of panels) {
        const gone = best.value < 1 && p.dataset.state !== 'unfinished' && !keep.has(p.dataset.trial), f = factsOf(p);
        const out = state.value && p.dataset.state !== state.value || !ok(f), faded = within && !within.has('#' + p.id);
        if (gone || out || faded) flags.set('#' + p.id, {gone, out, faded});
        else shown++;
      }
      count.value = shown === panels.length ? '' : shown + ' of ' + panels.length + ' trials';
    };
    let dimmed = false;
    const apply = root => {
      if (!flags.size && !dimmed) return;
      dimmed = flags.size > 0 || root !== document;
      for (const a of root.querySelectorAll('svg a')) {
        const f = flags.get(a.getAttribute('href'));
        if (!(f || a.className.baseVal)) continue;
        a.classList.toggle('gone', !!f?.gone);
        a.classList.toggle('dim', !!(f && (f.out || f.faded)));
      }
      for (const row of root.querySelectorAll('tr[id]')) {
        const f = flags.get('#' + row.id.slice(1));
        row.classList.toggle('gone', !!(f && (f.gone || f.out)));
        row.classList.toggle('dim', !!f?.faded);
      }
    };

    // Ranges on the axes of the parallel coordinates: of places, and where the axis has numbers that rise or fall,
    // of these. The axis of an objective is another one once there are other trials.
    const panelOf = a => document.getElementById(a.getAttribute('href').slice(1));
    const valueOn = (a, name) => {
      const text = factsOf(panelOf(a)).of.get(name);
      return text ? +text : undefined;
    };
    const pointOn = (a, x) => [...a.querySelectorAll('path:not(.bridge)')].flatMap(pointsOf).find(p => Math.abs(p[0] - x) < 0.2);
    const scaleOf = (svg, {name, x, top, low}) => {
      const known = [...svg.querySelectorAll('a')].filter(panelOf).map(a => [pointOn(a, x)?.[1], valueOn(a, name)]) // panels come after pictures
        .filter(([y]) => y > top + 0.1 && y < low - 0.1).sort((a, b) => a[0] - b[0])
        .filter(([y, v], i, all) => !i || y !== all[i - 1][0] && v !== all[i - 1][1]);
      const read = (from, to) => at => {
        const up = known[0][from] < known[1][from], k = known.findIndex(p => up ? p[from] >= at : p[from] <= at);
        const end = Math.max(k < 0 ? known.length - 1 : k, 1), [p, q] = [known[end - 1], known[end]];
        return p[to] + (at - p[from]) * (q[to] - p[to]) / (q[from] - p[from]);
      };
      const falls = known.length > 1 && known[0][1] > known[1][1];
      if (known.length < 2 || known.some(([, v], i) => !Number.isFinite(v) || i && falls !== v < known[i - 1][1])) return null;
      const value = read(0, 1), place = read(1, 0), beyond = falls ? Number.MAX_VALUE : -Number.MAX_VALUE;
      return {value: y => y < top ? beyond : y > low ? -beyond : value(y),
        place: v => Math.abs(v) < Number.MAX_VALUE ? Math.min(Math.max(place(v), top), low) : v === beyond ? top - 1 : low + 1};
    };
    const brushed = () => {
      const svg = el('parallel')?.querySelector('svg');
      if (!svg || !chosen.brush.size) return null;
      const axes = linesOf(svg), within = new Set();
      for (const a of svg.querySelectorAll('a')) {
        if (axes.every(({name, x}) => {
          const {places, values} = chosen.brush.get(name) || {}, [from, to] = values || places || [];
          const at = !values ? pointOn(a, x)?.[1] : panelOf(a) ? valueOn(a, name) : undefined;
          return !places || at >= Math.min(from, to) && at <= Math.max(from, to);
        })) within.add(a.getAttribute('href'));
      }
      return within;
    };
    const brush = svg => {
      const make = (x, y, w, h, name) => {
        const r = svg.appendChild(document.createElementNS(svg.namespaceURI, 'rect'));
        r.setAttribute('class', name);
        const at = (x, y, w, h) => Object.entries({x, y, width: w, height: h}).forEach(([k, v]) => r.setAttribute(k, v));
        at(x, y, w, h);
        return {r, at};
      };
      linesOf(svg).forEach(axis => {
        const range = make(axis.x - 6, axis.top, 12, 0, 'range'), show = () => {
          const {places, values} = chosen.brush.get(axis.name) || {}, scale = values && scaleOf(svg, axis);
          const [from, to] = scale ? values.map(scale.place) : places || [0, 0];
          range.at(axis.x - 6, from, 12, to - from);
        };
        const hold = make(axis.x - 12, axis.top - 8, 24, axis.low - axis.top + 16, 'hold').r;
        show();
        const y = e => Math.min(Math.max(new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse()).y, axis.top - 1), axis.low + 1);
        hold.onlostpointercapture = () => {
          dragging = false;
          waiting.splice(0).forEach(part => change(part));
        };
        hold.onpointerdown = e => {
          dragging = true;
          const from = y(e), scale = scaleOf(svg, axis);
          hold.setPointerCapture(e.pointerId);
          hold.onpointermove = e => {
            const places = [from, y(e)].sort((a, b) => a - b);
            chosen.brush.set(axis.name, {places, values: scale && places.map(scale.value)});
            show();
          };
          hold.onpointerup = hold.onpointercancel = e => {
            hold.onpointermove = null;
            const [low, high] = chosen.brush.get(axis.name)?.places || [0, 0];
            if (Math.abs(y(e) - from) < 3 || high - low < 3) chosen.brush.delete(axis.name);
            show();
            select();
            apply(document);
          };
        };
        hold.ondblclick = clear;
      });
    };
    const clear = () => {
      if (!chosen.brush.size) return false;
      chosen.brush.clear();
      for (const r of cards.querySelectorAll('rect.range')) r.setAttribute('height', 0);
      select();
      apply(document);
      return true;
    };

    // The table.
    const table = (root, all) => {
      const heads = [...root.querySelectorAll('#' + key + 'all th')], body = root.querySelector('#' + key + 'all tbody');
      if (!body) return;
      const order = () => {
        const at = heads.findIndex(h => h.dataset.name === chosen.sort);
        heads.forEach((h, i) => h.setAttribute('aria-sort', i !== at ? 'none' : chosen.down ? 'descending' : 'ascending'));
        const of = row => {
          const cell = row.cells[at], text = cell.title || cell.textContent, n = +text.replace(/ s$/, '');
          return text === '-' ? null : text && Number.isFinite(n) ? n : text;
        };
        const rows = [...body.rows].map(row => ({row, v: at < 0 ? +row.dataset.at : of(row)}));
        const sign = chosen.down && at >= 0 ? -1 : 1;
        rows.sort((a, b) => a.v === null || b.v === null ? (a.v === null) - (b.v === null) :
          sign * (typeof a.v === typeof b.v ? (a.v < b.v ? -1 : a.v > b.v ? 1 : 0) : typeof a.v === 'number' ? -1 : 1));
        body.append(...rows.map(r => r.row));
      };
      const hide = () => {
        for (const row of [heads[0].parentNode, ...body.rows]) heads.forEach((h, i) => { row.cells[i].hidden = chosen.hide.has(h.dataset.name); });
      };
      [...body.rows].forEach((row, i) => { row.dataset.at = i; });
      const called = namesOf(heads.map(h => h.title || h.textContent));
      heads.forEach((h, i) => {
        h.dataset.name = called[i];
        h.dataset.focus = 'c' + i;
        h.tabIndex = 0;
        h.onclick = () => {
          const again = chosen.sort === h.dataset.name;
          if (again && chosen.down) chosen.sort = '';
          else [chosen.sort, chosen.down] = [h.dataset.name, again];
          order();
        };
        h.onkeydown = e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); h.click(); } };
      });
      order();
      if (chosen.hide.size || all) hide();
      if (names.dataset.of !== called.join()) {
        names.dataset.of = called.join();
        names.replaceChildren();
        for (const h of heads) {
          const one = add(names, 'label'), box = add(one, 'input', {type: 'checkbox', checked: !chosen.hide.has(h.dataset.name)});
          one.append(' ' + h.textContent);
          box.onchange = () => {
            box.checked ? chosen.hide.delete(h.dataset.name) : chosen.hide.add(h.dataset.name);
            table(document, true);
          };
        }
      }
    };

    // The axis of the objective, logarithmic or not, as the user wants.
    const redraw = root => {
      if (chosen.log === null) return;
      for (const svg of root.querySelectorAll('#' + key + 'history svg, #' + key + 'slice svg')) rescale(svg, chosen.log);
    };
    const canBe = () => {
      const svg = cards.querySelector('#' + key + 'history svg[data-y]'), values = svg ? valuesOf(svg) : [];
      log.disabled = !values.length || values.some(v => v <= 0);
      if (chosen.log === null && svg) log.checked = svg.dataset.y.split(' ')[2] === '1';
    };
    const renew = root => {
      const within = id => root.id === key + id || root === cards;
      if (within('all')) table(root.parentNode);
      if (within('history') || within('slice')) redraw(root.parentNode);
      if (within('parallel')) for (const svg of root.querySelectorAll(root === cards ? '#' + key + 'parallel svg' : 'svg')) brush(svg);
      apply(root);
    };
    const refresh = () => { canBe(); select(); apply(document); };
    renew(cards);
    return {renew, refresh, clear, cards};
  };
  const valuesOf = svg => [...svg.querySelectorAll('a')].map(a => parseFloat(document.getElementById(a.getAttribute('href').slice(1))?.dataset.value)).filter(Number.isFinite);
  const rescale = (svg, log) => {
    const [, , was, top, low] = (svg.dataset.y || '').split(' ').map(Number), values = valuesOf(svg);
    if (was === undefined || !!was === log || !values.length || log && Math.min(...values) <= 0) return;
    const ends = [Math.min(...values), Math.max(...values)], pad = (ends[1] - ends[0]) * 0.05 || Math.abs(ends[0]) * 0.1 || 1;
    const [lo, hi] = log ? [ends[0] / 1.2, ends[1] * 1.2] : [ends[0] - pad, ends[1] + pad], f = log ? Math.log : v => v;
    const at = v => low - Math.min(Math.max(log && v <= 0 ? 0 : (f(v) - f(lo)) / (f(hi) - f(lo)), 0), 1) * (low - top);
    svg.dataset.y = [lo, hi, +log, top, low].join(' ');
    for (const c of svg.querySelectorAll('a circle')) {
      const v = parseFloat(document.getElementById(c.parentNode.getAttribute('href').slice(1))?.dataset.value);
      if (Number.isFinite(v)) c.setAttribute('cy', at(v));
    }
    for (const path of svg.querySelectorAll('[data-v]')) {
      const v = path.dataset.v.split(' ').map(Number);
      let k = 0;
      path.setAttribute('d', path.getAttribute('d').replace(/([-\d.]+) [-\d.]+/g, (_, x) => x + ' ' + at(v[k++]).toFixed(1)));
    }
    const lines = [...svg.querySelectorAll('line.grid')].filter(l => l.getAttribute('y1') === l.getAttribute('y2')), line = lines[0];
    const texts = [...svg.querySelectorAll('text.tick')].filter(t => +t.getAttribute('x') < +line?.getAttribute('x1')), text = texts[0];
    for (const old of [...lines, ...texts]) old.remove();
    if (!line || !text) return;
    const marks = [];
    if (log) {
      const from = Math.ceil(Math.log10(lo)), to = Math.floor(Math.log10(hi)), step = Math.max(Math.ceil((to - from + 1) / 6), 1);
      for (let e = from; e <= to; e += step) marks.push(10 ** e);
      if (marks.length < 2) for (const m of [2, 3, 5]) for (let e = from - 1; e <= to; e++) if (m * 10 ** e > lo && m * 10 ** e < hi) marks.push(m * 10 ** e);
    }
    if (marks.length < 2) {
      const raw = 10 ** Math.floor(Math.log10((hi - lo) / 4)), step = raw * [1, 2, 5, 10].find(m => (hi - lo) / (raw * m) <= 5);
      marks.length = 0; // a single power of ten may be none of these
      for (let k = Math.ceil(lo / step); k * step <= hi && marks.length < 10; k++) marks.push(k * step);
    }
    for (const v of marks) {
      const l = line.cloneNode(), t = text.cloneNode(), y = at(v);
      l.setAttribute('y1', y);
      l.setAttribute('y2', y);
      t.setAttribute('y', y + 3.5);
      const digits = Math.floor(Math.log10(Math.abs(v))) - Math.floor(Math.log10((hi - lo) / 10)) + 1;
      t.textContent = +v.toPrecision(Math.min(Math.max(digits, 4), 15));
      svg.prepend(l, t);
    }
  };
  const works = [...document.querySelectorAll('.cards[id]')].map(work);
  const renew = part => { for (const w of works) if (w.cards.contains(part)) w.renew(part); };
  index();
  const feed = document.body.dataset.feed;
  if (!feed) return;
  const make = (name, more) => document.body.appendChild(Object.assign(document.createElement(name), more));
  document.addEventListener('click', async e => { // a log, as it grows
    const a = e.target.closest('a.log');
    if (!a) return;
    e.preventDefault();
    const box = make('dialog', {className: 'log'}), title = box.appendChild(document.createElement('h2')),
      close = title.appendChild(document.createElement('button')), note = title.appendChild(document.createElement('span')),
      pre = box.appendChild(document.createElement('pre')), stop = new AbortController();
    const what = 'Trial ' + a.pathname.match(/\d+$/) + ', ' + a.textContent.toLowerCase();
    let held = 0;
    close.textContent = 'Close';
    close.onclick = () => box.close();
    box.onclose = () => { stop.abort(); box.remove(); };
    box.showModal();
    note.textContent = what + ', going on';
    try {
      const got = await fetch(a.href, {signal: stop.signal}), reader = got.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let part; !(part = await reader.read()).done;) {
        const low = pre.scrollTop + pre.clientHeight > pre.scrollHeight - 40;
        pre.append(part.value);
        for (held += part.value.length; held > 1e6; pre.firstChild.remove()) held -= pre.firstChild.length;
        if (low) pre.scrollTop = pre.scrollHeight;
      }
      note.textContent = what + (held ? ', to its end' : ': nothing was printed');
    } catch (err) {
      if (!stop.signal.aborted) note.textContent = 'No answer: ' + err.message;
    }
  });
  const said = document.getElementById('said');
  if (said) {
    document.addEventListener('click', e => {
      if (!e.target.dataset.like) return;
      const form = document.getElementById('enqueue'), like = JSON.parse(e.target.dataset.like);
      form.reset(); // of what only other values have
      for (const name in like) form.elements.namedItem('p:' + name).value = like[name];
      location.hash = '#control';
      form.parentNode.open = true;
    });
    document.addEventListener('submit', async e => {
      e.preventDefault();
      const form = e.target, order = {action: e.submitter.value};
      for (const [name, text] of new FormData(form)) {
        if (name.startsWith('p:')) (order.values ||= {})[name.slice(2)] = text;
        else order[name] = name === 'trial' ? +text : text;
      }
      said.className = '';
      said.textContent = 'Asking ...';
      try {
        const got = await fetch('api/v1/requests', {method: 'POST', body: JSON.stringify(order),
          headers: {'Content-Type': 'application/json'}}), answer = await got.json();
        said.className = answer.error ? 'bad' : '';
        said.textContent = answer.error || answer.done;
        if (answer.error) return;
        form.reset();
      } catch (err) {
        said.textContent = 'No answer: ' + err.message;
      }
    });
  }
  const box = document.createElement('template'), whole = new Map(); // the lines of parts that came
  const listen = () => {
    const source = new EventSource(feed);
    source.addEventListener('part', e => dragging ? waiting.push(JSON.parse(e.data)) : change(JSON.parse(e.data)));
    source.onerror = () => { if (source.readyState === EventSource.CLOSED) setTimeout(listen, 15000); }; // refused, for now
  };
  const change = part => { // of a part of the page: all of it, or of its lines what is new
    let html = part.html;
    if (part.lines) {
      const was = whole.get(part.id);
      html = part.lines.map(l => typeof l === 'string' ? l : was.slice(l[0], l[0] + l[1]).join('\n')).join('\n');
    }
    if (part.lines || part.in === 'cards') whole.set(part.id, html.split('\n'));
    box.innerHTML = html;
    const old = document.getElementById(part.id), now = box.content.firstElementChild;
    if (!old) document.getElementById(part.in).append(box.content);
    else if (!now) old.remove();
    else {
      const scrolled = old.querySelector('.scroll'), at = scrolled && [scrolled.scrollLeft, scrolled.scrollTop];
      const focus = old.contains(document.activeElement) && document.activeElement.dataset.focus;
      old.replaceWith(now);
      const to = at && now.querySelector('.scroll');
      renew(now);
      if (to) [to.scrollLeft, to.scrollTop] = at;
      if (focus) now.querySelector('[data-focus="' + focus + '"]')?.focus();
    }
    clearTimeout(late);
    late = setTimeout(index, 100);
    ages();
  };
  let late = 0;
  const ages = () => { // times become how long ago they are
    for (const t of document.querySelectorAll('time')) {
      const s = Math.max((Date.now() - Date.parse(t.dateTime)) / 1000, 0), unit = [[86400, ' d'], [3600, ' h'], [60, ' min'], [1, ' s']].find(u => s >= u[0] * 2) || [1, ' s'];
      t.textContent = Math.floor(s / unit[0]) + unit[1] + ('ago' in t.dataset ? ' ago' : '');
    }
  };
  setInterval(ages, 5000);
  ages();
  listen();
})();
