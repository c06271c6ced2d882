// Icicles: the module tree, the root on top, each row as wide as its time. The rows are described in
// src/report/profile/module_icicle.cpp.
(function () {
  'use strict';
  const canvas = window.ridgelineCanvas;
  const make = canvas.make;
  const kRow = 25;         // pixels, with the gap below
  const kMostLevels = 24;
  const kThin = 1.5;       // pixels; what is less wide is drawn as one with its neighbours
  const kKinds = ['root', 'module', 'operation', 'node', 'unattributed'];

  function readTree(rows) {
    const nodes = rows.map(function (row) {
      return {
        name: row[1], kind: kKinds[row[2]], time: row[3], self: row[4], calls: row[5], bytes: row[6], backward: row[7], rated: row[8], modules: 1,
        children: []
      };
    });
    rows.forEach(function (row, i) { if (row[0] >= 0) nodes[row[0]].children.push(nodes[i]); });
    return nodes[0];
  }

  function merged(nodes) {
    const places = new Map();
    nodes.forEach(function (node) {
      const key = node.kind + ' ' + canvas.moduleClass(node.name);
      places.set(key, (places.get(key) || []).concat([node]));
    });
    return Array.from(places.values(), function (alike) {
      const sum = function (of) { return alike.reduce(function (total, node) { return total + of(node); }, 0); };
      const known = alike.filter(function (node) { return node.bytes >= 0; });
      const first = alike[0];
      return {
        name: alike.length > 1 ? canvas.moduleClass(first.name).replace(/[#._\- ]+$/, '') || first.name : first.name,
        kind: first.kind, modules: alike.length,
        time: sum(function (node) { return node.time; }), self: sum(function (node) { return node.self; }),
        calls: sum(function (node) { return node.calls; }), backward: sum(function (node) { return node.backward; }),
        rated: known.reduce(function (total, node) { return total + node.rated; }, 0),
        bytes: known.length > 0 ? known.reduce(function (total, node) { return total + node.bytes; }, 0) : -1,
        children: merged(alike.flatMap(function (node) { return node.children; }))
      };
    });
  }

  function finish(node, parent) {
    node.parent = parent;
    node.title = node.modules > 1 ? node.modules + ' x ' + node.name : node.name;
    node.children.sort(function (a, b) { return b.time - a.time; });
    node.children.forEach(function (child) { finish(child, node); });
    return node;
  }

  function pathOf(node) {
    const path = [];
    for (let at = node; at; at = at.parent) path.unshift(at);
    return path;
  }

  class Icicle {
    constructor(figure, data) {
      this.data = data;
      this.isMerged = true;
      const drawing = figure.querySelector('.drawing');
      this.path = make('ol', { class: 'path', 'aria-label': 'Where in the tree' });
      const toggle = make('input', { type: 'checkbox', checked: '', onchange: function () {
        this.isMerged = toggle.checked;
        this.build();
      }.bind(this) });
      const stage = make('div', { class: 'stage' });
      drawing.append(make('div', { class: 'tools' }, [this.path, make('label', {}, [toggle, 'merge alike'])]), stage,
        make('p', { class: 'hint', text: 'A click shows a row in full width, one on the top row goes back; keys: arrows, Enter, Escape.' +
          (data.has_backward ? ' The strip below is the part of the backward pass.' : '') +
          (data.folded > 0 ? ' ' + canvas.count(data.folded) + ' smaller rows are part of those above them.' : '') }));
      this.target = canvas.sharpCanvas(stage, figure.querySelector('.alternative').textContent, this.draw.bind(this));
      this.tip = canvas.tooltip(stage);
      this.listen();
      this.build();
      canvas.onTheme(this.draw.bind(this));
    }

    build() {
      const root = readTree(this.data.rows);
      if (this.isMerged) root.children = merged(root.children);
      root.name = root.name || 'all';
      finish(root, null);
      this.root = root;
      const classes = new Map();
      const see = function (node) {
        if (node.kind === 'module') {
          const of = canvas.moduleClass(node.name).replace(/[#._\- ]+$/, '');
          classes.set(of, (classes.get(of) || 0) + node.self + 1e-6 * node.time);
        }
        node.children.forEach(see);
      };
      see(root);
      this.places = new Map(Array.from(classes.keys()).sort(function (a, b) { return classes.get(b) - classes.get(a); })
        .map(function (of, place) { return [of, place % 8 + 1]; }));
      this.current = null;
      this.zoomTo(root);
    }

    zoomTo(node) {
      this.focus = node;
      this.tip.hide();
      this.path.replaceChildren.apply(this.path, pathOf(node).map(function (part) {
        const title = part === this.root ? this.data.root : part.title;
        return make('li', {}, [part === node ? make('span', { text: title, 'aria-current': 'true' })
          : make('button', { type: 'button', text: title, onclick: this.zoomTo.bind(this, part) })]);
      }, this));
      this.draw();
    }

    colourOf(node) {
      if (node.kind === 'module') return this.colours[this.places.get(canvas.moduleClass(node.name).replace(/[#._\- ]+$/, ''))];
      return { root: this.soft.module, operation: this.soft.operation, node: this.colours[2], unattributed: this.soft.other }[node.kind];
    }

    // Boxes of what is seen, the outer first.
    layOut() {
      this.boxes = [];
      let deepest = 0;
      const place = function (node, left, width, level) {
        deepest = Math.max(deepest, level);
        this.boxes.push({ node: node, left: left, width: width, level: level });
        if (level + 1 >= kMostLevels) return;
        const sum = node.children.reduce(function (total, child) { return total + child.time; }, 0);
        const scale = width / Math.max(sum, node.time, 1);
        let x = left;
        let thin = null;
        node.children.forEach(function (child) {
          const wide = child.time * scale;
          if (wide >= kThin) {
            place(child, x, wide, level + 1);
          } else if (wide > 0) {
            if (!thin) this.boxes.push(thin = { node: child, left: x, width: 0, level: level + 1, others: 0 });
            thin.width += wide;
            ++thin.others;
            deepest = Math.max(deepest, level + 1);
          }
          x += wide;
        }, this);
      }.bind(this);
      place(this.focus, 0, this.target.width, 0);
      return deepest + 1;
    }

    draw() {
      this.colours = [null, 1, 2, 3, 4, 5, 6, 7, 8].map(function (i) { return i && canvas.colour('--lane-' + i); });
      this.soft = { module: canvas.colour('--lane-module'), operation: canvas.colour('--lane-operation'), other: canvas.colour('--lane-dim') };
      this.target.setHeight(kRow);
      const levels = this.layOut();
      this.target.setHeight(levels * kRow + 1);
      const context = this.target.context;
      context.fillStyle = canvas.colour('--page');
      context.fillRect(0, 0, this.target.width, this.target.height);
      context.font = '12px ' + getComputedStyle(document.body).fontFamily;
      context.textBaseline = 'middle';
      const onColour = canvas.colour('--page');
      const onSoft = canvas.colour('--lane-soft-ink');
      this.boxes.forEach(function (box) {
        const node = box.node;
        const top = box.level * kRow;
        const width = Math.max(0.5, box.width - (box.width > 3 ? 1 : 0));
        context.fillStyle = box.others ? canvas.colour('--lane-other') : this.colourOf(node);
        context.fillRect(box.left, top, width, kRow - 1);
        if (box.others) return;
        if (node.backward > 0 && node.time > 0 && node !== this.root) {
          context.fillStyle = onSoft;
          context.globalAlpha = 0.45;
          context.fillRect(box.left, top + kRow - 4, width * Math.min(1, node.backward / node.time), 3);
          context.globalAlpha = 1;
        }
        if (width < 24) return;
        context.fillStyle = node.kind === 'module' || node.kind === 'node' ? onColour : onSoft;
        const title = node === this.root ? this.data.root : node.title;
        const all = title + '  ' + canvas.share(node.time, this.root.time);
        const text = context.measureText(all).width <= width - 10 ? all : canvas.fitted(context, title, width - 10);
        context.fillText(text, box.left + 5, top + kRow / 2 - 0.5);
      }, this);
      if (this.current) {
        const box = this.boxes.find(function (one) { return one.node === this.current; }, this);
        if (box) {
          context.strokeStyle = canvas.colour('--ink');
          context.lineWidth = 2;
          context.strokeRect(box.left + 1, box.level * kRow + 1, Math.max(2, box.width - 3), kRow - 3);
        }
      }
    }

    describe(box) {
      const node = box.node;
      const pathText = function (of) { return pathOf(of).slice(1).map(function (one) { return one.title; }).join('/\u200b'); };
      if (box.others > 1) return [box.others + ' short rows', 'in ' + pathText(node.parent)];
      const path = pathText(node);
      const lines = [path || this.data.root, canvas.duration(node.time) + ', ' + canvas.share(node.time, this.root.time)];
      if (node.self > 0 && node.children.length > 0) lines.push('self ' + canvas.duration(node.self));
      if (node.calls > 0) lines.push(canvas.count(node.calls) + (node.calls === 1 ? ' call' : ' calls'));
      if (node.backward > 0) lines.push('backward ' + canvas.share(node.backward, node.time));
      if (node.bytes >= 0) lines.push(canvas.bytes(node.bytes) + (node.rated > 0 ? ', ' + canvas.rate(node.bytes, node.rated) : ''));
      return lines;
    }

    boxAt(x, y) {
      const level = Math.floor(y / kRow);
      return this.boxes.find(function (box) { return box.level === level && x >= box.left && x < box.left + box.width; });
    }

    select(node) {
      if (!node) return;
      this.current = node;
      this.draw();
      const box = this.boxes.find(function (one) { return one.node === node; });
      if (box) this.tip.show(this.describe(box), box.left, (box.level + 1) * kRow - 10);
    }

    listen() {
      const element = this.target.element;
      element.addEventListener('pointermove', function (event) {
        const box = this.boxAt(event.offsetX, event.offsetY);
        element.classList.toggle('pointing', Boolean(box));
        if (box) this.tip.show(this.describe(box), event.offsetX, event.offsetY);
        else this.tip.hide();
      }.bind(this));
      element.addEventListener('pointerleave', this.tip.hide);
      element.addEventListener('click', function (event) {
        const box = this.boxAt(event.offsetX, event.offsetY);
        if (!box) return;
        this.current = null;
        this.zoomTo(box.node === this.focus && this.focus.parent ? this.focus.parent : box.others > 1 ? box.node.parent : box.node);
      }.bind(this));
      element.addEventListener('keydown', this.key.bind(this));
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const at = this.current || this.focus;
      const beside = function (by) {
        const siblings = at === this.focus ? [at] : at.parent.children;
        return siblings[siblings.indexOf(at) + by];
      }.bind(this);
      switch (event.key) {
        case 'ArrowLeft': this.select(beside(-1)); break;
        case 'ArrowRight': this.select(beside(1)); break;
        case 'ArrowUp': this.select(at === this.focus ? at : at.parent); break;
        case 'ArrowDown': this.select(this.current ? at.children[0] : at); break;
        case 'Enter': this.zoomTo(at); break;
        case 'Escape':
        case 'Backspace':
          if (this.focus.parent) this.zoomTo(this.focus.parent);
          break;
        default: return;
      }
      event.preventDefault();
    }
  }

  document.querySelectorAll('figure[data-icicle]').forEach(function (figure) {
    new Icicle(figure, JSON.parse(figure.querySelector('script').textContent));
  });
})();
