'use strict';
// Everything can be read without this: it marks a trial in all pictures at once, closes
// its panel with Escape, and keeps a live page up to date.
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
  document.addEventListener('keydown', e => { if (e.key === 'Escape') location.hash = '#top'; });
  index();
  const feed = document.body.dataset.feed;
  if (!feed) return;
  const source = new EventSource(feed), box = document.createElement('template');
  let late = 0;
  source.addEventListener('part', e => { // the parts of the page that have changed
    const part = JSON.parse(e.data);
    box.innerHTML = part.html;
    const old = document.getElementById(part.id);
    if (old) old.replaceWith(box.content);
    else document.getElementById(part.in).append(box.content);
    clearTimeout(late);
    late = setTimeout(index, 100);
  });
})();
