'use strict';
// Everything can be read without this: it marks a trial in all pictures at once, closes
// its panel with Escape, and keeps a live page up to date. There it also follows what a
// trial prints, and sends what its user orders.
(() => {
  let marks = new Map(), lit = [];
  const index = () => {
    marks = new Map();
    for (const a of document.querySelectorAll('svg a, tr[id]')) {
      const key = a.id ? '#' + a.id.slice(1) : a.getAttribute('href');
      marks.has(key) ? marks.get(key).push(a) : marks.set(key, [a]);
    }
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
  document.addEventListener('click', () => { tip.hidden = true; });
  document.addEventListener('keydown', e => { if (e.key === 'Escape' && !document.querySelector('dialog')) location.hash = '#top'; });
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
  const box = document.createElement('template');
  let late = 0;
  const listen = () => {
    const source = new EventSource(feed);
    source.addEventListener('part', change);
    source.onerror = () => { if (source.readyState === EventSource.CLOSED) setTimeout(listen, 15000); }; // refused, for now
  };
  const change = e => { // of a part of the page
    const part = JSON.parse(e.data);
    box.innerHTML = part.html;
    const old = document.getElementById(part.id);
    if (old) old.replaceWith(box.content);
    else document.getElementById(part.in).append(box.content);
    clearTimeout(late);
    late = setTimeout(index, 100);
  };
  listen();
})();
