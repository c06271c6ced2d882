// The canvas of a timeline: what is drawn where, and what pointers, wheel and keys do.
(function () {
  'use strict';
  const canvas = window.ridgelineCanvas;
  const timeline = window.ridgelineTimeline;
  const kOverview = 34, kRuler = 20, kSteps = 18, kTitle = 19;   // heights in pixels
  const kGpuRow = 22, kHostRow = 17, kGap = 7;
  const kLeastSpan = 20;     // nanoseconds across the whole width
  const kScrollPause = 250;  // milliseconds after which the wheel zooms rather than goes on to scroll the page

  class View {
    constructor(stage, data, name) {
      this.data = data;
      this.from = 0;
      this.to = data.span;
      this.scroll = 0;
      this.pinned = null;
      this.hovered = null;
      this.pointers = new Map();
      this.target = canvas.sharpCanvas(stage, name, this.resize.bind(this));
      this.tip = canvas.tooltip(stage);
      this.painter = new timeline.Painter();
      this.painter.names = data.names;
      this.painter.family = getComputedStyle(document.body).fontFamily;
      this.top = kOverview + kRuler + (data.steps.length > 0 ? kSteps : 0);
      this.layOut();
      this.listen();
      this.readTheme();
      this.resize();
    }

    // What is drawn in which height, from the top of all rows.
    layOut() {
      this.lines = [];
      let y = 0;
      this.data.groups.forEach(function (group) {
        this.lines.push({ title: group.title, top: y, height: kTitle });
        y += kTitle;
        group.rows.forEach(function (row) {
          const height = group.gpu ? kGpuRow : kHostRow;
          this.lines.push({ row: row, group: group, top: y, height: height });
          y += height + 1;
        }, this);
        y += kGap;
      }, this);
      this.contents = y;
    }

    readTheme() {
      this.painter.readTheme();
      this.ink = canvas.colour('--ink');
      this.soft = canvas.colour('--soft');
      this.page = canvas.colour('--page');
      this.panel = canvas.colour('--panel');
      this.lineColour = canvas.colour('--line-strong');
      this.accent = canvas.colour('--accent');
      this.overview = null;
      this.redraw();
    }
    recolour() {
      this.overview = null;
      this.redraw();
    }
    resize() {
      const most = Math.max(280, Math.round(window.innerHeight * 0.7));
      this.target.setHeight(Math.min(this.top + this.contents, most));
      this.overview = null;
      this.draw();
    }
    redraw() {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(function () {
        this.waiting = false;
        this.draw();
      }.bind(this));
    }

    get width() { return this.target.width; }
    get scale() { return this.width / (this.to - this.from); }
    timeAt(x) { return this.from + x / this.scale; }
    xOf(time) { return (time - this.from) * this.scale; }

    show(from, to) {
      const span = Math.min(this.data.span, Math.max(kLeastSpan, to - from));
      from = Math.max(0, Math.min(this.data.span - span, from));
      this.from = from;
      this.to = from + span;
      this.tip.hide();
      this.redraw();
    }
    fit() { this.show(0, this.data.span); }
    pan(share) {
      const by = share * (this.to - this.from);
      this.show(this.from + by, this.to + by);
    }
    zoom(factor, time) {
      const span = Math.min(this.data.span, Math.max(kLeastSpan, (this.to - this.from) * factor));
      const part = (time - this.from) / (this.to - this.from);
      this.show(time - part * span, time + (1 - part) * span);
    }
    scrollTo(y) {
      this.scroll = Math.max(0, Math.min(this.contents - (this.target.height - this.top), y));
      this.redraw();
    }
    get scrolls() { return this.contents > this.target.height - this.top + 1; }

    // One piece in the middle, with its tooltip.
    focus(line, place) {
      const row = line.row;
      const lasts = Math.max(row.end[place] - row.start[place], 4);
      this.pinned = { line: line, place: place };
      this.show(row.start[place] - lasts, row.end[place] + lasts);
      const room = this.target.height - this.top;
      if (line.top < this.scroll || line.top + line.height > this.scroll + room) this.scrollTo(line.top - room / 2);
      this.draw();
      this.showTip(this.pinned, this.width / 2, this.top + line.top + line.height - this.scroll - 10);
    }

    draw() {
      const begun = performance.now();
      const context = this.target.context;
      context.fillStyle = this.page;
      context.fillRect(0, 0, this.width, this.target.height);
      this.drawSteps(context);
      context.save();
      context.beginPath();
      context.rect(0, this.top, this.width, this.target.height - this.top);
      context.clip();
      const view = { from: this.from, to: this.to };
      this.lines.forEach(function (line) {
        const y = this.top + line.top - this.scroll;
        if (y + line.height < this.top || y > this.target.height) return;
        if (line.row) {
          const area = { left: 0, top: y, width: this.width, height: line.height };
          this.painter.paint(this.target, [line.row], view, area, this.highlights);
        } else this.drawTitle(context, line.title, y);
      }, this);
      this.outline(context, this.hovered, this.ink);
      this.outline(context, this.pinned, this.accent);
      context.restore();
      this.drawScroll(context);
      this.drawRuler(context);
      this.drawOverview(context);
      performance.clearMeasures('timeline draw');
      performance.measure('timeline draw', { start: begun });
    }

    font(context, size) {
      context.font = size + 'px ' + this.painter.family;
      context.textBaseline = 'middle';
    }
    drawTitle(context, text, y) {
      this.font(context, 11.5);
      context.fillStyle = this.soft;
      context.fillText(canvas.fitted(context, text, this.width - 12), 6, y + kTitle / 2 + 1);
    }

    // Every other step on a band; names where there is room.
    drawSteps(context) {
      const steps = this.data.steps;
      if (steps.length === 0) return;
      const top = kOverview + kRuler;
      this.font(context, 11);
      let low = 0;
      let high = steps.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (steps[middle][1] + steps[middle][2] > this.from) high = middle;
        else low = middle + 1;
      }
      if ((this.to - this.from) / this.data.span * steps.length > this.width / 3) return;
      for (let i = low; i < steps.length && steps[i][1] < this.to; ++i) {
        const left = Math.max(0, this.xOf(steps[i][1]));
        const right = Math.min(this.width, this.xOf(steps[i][1] + steps[i][2]));
        if (i % 2 === 0) {
          context.fillStyle = this.panel;
          context.fillRect(left, top, right - left, this.target.height - top);
        }
        context.fillStyle = this.lineColour;
        context.fillRect(left, top, 1, kSteps);
        context.fillStyle = this.soft;
        const short = /\d+$/.exec(steps[i][0]);
        const text = canvas.fitted(context, steps[i][0], right - left - 8);
        if (text === steps[i][0] || !short) context.fillText(text, left + 5, top + kSteps / 2 + 1);
        else if (context.measureText(short[0]).width <= right - left - 6) context.fillText(short[0], left + 4, top + kSteps / 2 + 1);
      }
    }

    drawRuler(context) {
      const wanted = (this.to - this.from) * 110 / this.width;
      const power = Math.pow(10, Math.floor(Math.log10(wanted)));
      const tick = [1, 2, 5, 10].find(function (by) { return by * power >= wanted; }) * power;
      const unit = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']].find(function (pair) { return tick >= pair[0] / 10; }) || [1, 'ns'];
      const decimals = Math.max(0, Math.ceil(-Math.log10(tick / unit[0]) - 1e-9));
      this.font(context, 11);
      context.fillStyle = this.page;
      context.fillRect(0, kOverview, this.width, kRuler);
      for (let at = Math.ceil(this.from / tick) * tick; at < this.to; at += tick) {
        const x = this.xOf(at);
        context.fillStyle = this.lineColour;
        context.fillRect(x, kOverview + kRuler - 6, 1, 6);
        context.fillStyle = this.soft;
        context.fillText((at / unit[0]).toFixed(decimals) + ' ' + unit[1], x + 4, kOverview + kRuler / 2);
      }
      context.fillStyle = this.lineColour;
      context.fillRect(0, kOverview + kRuler - 1, this.width, 1);
    }

    // All GPUs together over the whole run, drawn once; without any, all threads.
    drawOverview(context) {
      if (!this.overview) {
        const image = document.createElement('canvas');
        image.width = this.target.element.width;
        image.height = Math.round(kOverview * this.target.ratio);
        const target = { context: image.getContext('2d'), ratio: this.target.ratio };
        target.context.setTransform(target.ratio, 0, 0, target.ratio, 0, 0);
        target.context.fillStyle = this.panel;
        target.context.fillRect(0, 0, this.width, kOverview);
        const gpus = this.data.groups.filter(function (group) { return group.gpu; });
        const rows = gpus.length > 0 ? gpus.flatMap(function (group) { return group.rows; })
          : this.data.groups.map(function (group) { return group.rows[0]; });
        if (rows.length > 0)
          this.painter.paintColumns(target, rows, { from: 0, to: this.data.span }, { left: 0, top: 4, width: this.width, height: kOverview - 5 },
            this.highlights);
        this.overview = image;
      }
      context.drawImage(this.overview, 0, 0, this.width, kOverview);
      const left = this.from / this.data.span * this.width;
      const right = Math.max(left + 3, this.to / this.data.span * this.width);
      context.globalAlpha = 0.72;
      context.fillStyle = this.page;
      context.fillRect(0, 0, left, kOverview);
      context.fillRect(right, 0, this.width - right, kOverview);
      context.globalAlpha = 1;
      context.strokeStyle = this.accent;
      context.lineWidth = 1.5;
      context.strokeRect(left + 0.75, 0.75, Math.max(1.5, right - left - 1.5), kOverview - 1.5);
    }

    drawScroll(context) {
      if (!this.scrolls) return;
      const room = this.target.height - this.top;
      context.fillStyle = this.lineColour;
      context.fillRect(this.width - 5, this.top + room * this.scroll / this.contents, 4, room * room / this.contents);
    }

    outline(context, found, colour) {
      if (!found) return;
      const row = found.line.row;
      const left = Math.max(-2, this.xOf(row.start[found.place]));
      const right = Math.min(this.width + 2, this.xOf(row.end[found.place]));
      if (right < 0 || left > this.width) return;
      context.strokeStyle = colour;
      context.lineWidth = 2;
      context.strokeRect(left, this.top + found.line.top - this.scroll, Math.max(2, right - left), found.line.height);
    }

    // The piece at a place, or the nearest within a few pixels.
    find(x, y) {
      if (y < this.top) return null;
      const at = y - this.top + this.scroll;
      const line = this.lines.find(function (one) { return one.row && at >= one.top && at < one.top + one.height + 1; });
      if (!line) return null;
      const time = this.timeAt(x);
      const near = 3 / this.scale;
      const row = line.row;
      const next = row.firstAfter(time - near);
      let best = -1;
      let least = near;
      for (let i = next; i < row.count && row.start[i] <= time + near && i < next + 1000; ++i) {
        const away = Math.max(row.start[i] - time, time - row.end[i], 0);
        if (away <= least) {
          best = i;
          least = away;
        }
        if (away === 0) break;
      }
      return best < 0 ? null : { line: line, place: best };
    }

    describe(found) {
      const row = found.line.row;
      const i = found.place;
      const data = this.data;
      const name = data.names[row.name[i]];
      const lasts = row.end[i] - row.start[i];
      const at = 'at ' + (row.start[i] / 1e6).toFixed(6).replace(/0{1,3}$/, '') + ' ms, for ' + canvas.duration(lasts);
      const lines = name.kind !== 0 || canvas.shortName(name.text) === name.short ? [name.short, at] : [name.short, name.text, at];
      const detail = row.details[i];
      if (name.kind === 0 && detail > 0) {
        const shape = data.shapes[detail - 1];
        lines.push('grid ' + shape.slice(0, 3).join(' x ') + ', block ' + shape.slice(3).join(' x '));
      }
      if (name.kind !== 0 && detail > 0) lines.push(canvas.bytes(detail - 1) + (lasts > 0 ? ', ' + canvas.rate(detail - 1, lasts) : ''));
      lines.push(found.line.group.title);
      const path = data.pathOf(row.modules[i]);
      if (path && path !== name.text) lines.push('in ' + path.replace(/\//g, '/\u200b'));
      const step = row.steps[i];
      if (step > 0) lines.push((data.steps[step - 1][0] || 'step') + ' (' + step + ' of ' + data.steps.length + ')');
      return lines;
    }
    showTip(found, x, y) {
      this.tip.show(this.describe(found), x, y);
    }

    listen() {
      const element = this.target.element;
      let scrolled = -kScrollPause;
      let inside = false;
      window.addEventListener('scroll', function () { if (!inside) scrolled = performance.now(); }, { passive: true });
      element.addEventListener('pointermove', function () { inside = true; });
      element.addEventListener('pointerleave', function () {
        inside = false;
        this.hover(null);
      }.bind(this));
      element.addEventListener('wheel', function (event) {
        const now = performance.now();
        if (now - scrolled < kScrollPause && !event.ctrlKey) {
          scrolled = now;
          return;
        }
        const unit = event.deltaMode === 1 ? 16 : 1;
        const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0;
        if (sideways !== 0) {
          this.pan(sideways * unit / this.width);
        } else {
          if (event.deltaY > 0 && this.to - this.from >= this.data.span && !event.ctrlKey) {
            scrolled = now;
            return;
          }
          this.zoom(Math.exp(event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.002)), this.timeAt(event.offsetX));
        }
        event.preventDefault();
      }.bind(this), { passive: false });
      element.addEventListener('pointerdown', this.press.bind(this));
      element.addEventListener('pointermove', this.move.bind(this));
      element.addEventListener('pointerup', this.release.bind(this));
      element.addEventListener('pointercancel', this.release.bind(this));
      element.addEventListener('dblclick', this.fit.bind(this));
      element.addEventListener('keydown', this.key.bind(this));
    }

    press(event) {
      if (event.button !== 0) return;
      this.target.element.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      this.moved = this.pointers.size > 1;
      this.inOverview = event.offsetY < kOverview;
      if (this.inOverview) this.centre(event.offsetX);
    }
    centre(x) {
      const half = (this.to - this.from) / 2;
      const time = x / this.width * this.data.span;
      this.show(time - half, time + half);
    }
    move(event) {
      const before = this.pointers.get(event.pointerId);
      if (!before) {
        this.hover(this.find(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
        return;
      }
      const others = Array.from(this.pointers.values()).filter(function (other) { return other !== before; });
      const x = event.offsetX;
      const y = event.offsetY;
      if (Math.abs(x - before.x) + Math.abs(y - before.y) < 4 && !this.moved) return;
      this.moved = true;
      this.target.element.classList.add('dragging');
      if (this.inOverview) {
        this.centre(x);
      } else if (others.length === 1) {
        const distance = function (point) { return Math.max(20, Math.abs(point.x - others[0].x)); };
        const middle = (x + others[0].x) / 2;
        this.zoom(distance(before) / distance({ x: x }), this.timeAt(middle));
      } else {
        this.pan((before.x - x) / this.width);
        if (this.scrolls) this.scrollTo(this.scroll + before.y - y);
      }
      before.x = x;
      before.y = y;
    }
    release(event) {
      if (!this.pointers.delete(event.pointerId)) return;
      this.target.element.classList.remove('dragging');
      if (this.moved || this.inOverview || event.type === 'pointercancel') return;
      this.pinned = this.find(event.offsetX, event.offsetY);
      this.tip.hide();
      if (this.pinned) this.showTip(this.pinned, event.offsetX, event.offsetY);
      this.redraw();
    }
    hover(found, x, y) {
      const old = this.hovered;
      this.hovered = found;
      this.target.element.classList.toggle('pointing', found !== null);
      if (found) this.showTip(found, x, y);
      else if (old) this.tip.hide();
      if (old?.line !== found?.line || old?.place !== found?.place) this.redraw();
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const by = event.shiftKey ? 0.5 : 0.1;
      const middle = (this.from + this.to) / 2;
      const actions = {
        ArrowLeft: function () { this.pan(-by); }, ArrowRight: function () { this.pan(by); },
        '+': function () { this.zoom(0.6, middle); }, '=': function () { this.zoom(0.6, middle); },
        '-': function () { this.zoom(1 / 0.6, middle); }, _: function () { this.zoom(1 / 0.6, middle); },
        0: this.fit,
        Escape: function () {
          this.pinned = null;
          this.tip.hide();
          this.redraw();
        }
      };
      if (this.scrolls) {
        actions.ArrowUp = function () { this.scrollTo(this.scroll - 40); };
        actions.ArrowDown = function () { this.scrollTo(this.scroll + 40); };
      }
      const action = actions[event.key];
      if (!action) return;
      action.call(this);
      event.preventDefault();
    }

    // The next piece by time whose name matches, behind the one that is pinned.
    findNext(matches, backwards) {
      const data = this.data;
      const pinned = this.pinned;
      const from = pinned ? pinned.line.row.start[pinned.place] : backwards ? Infinity : -1;
      const order = pinned ? this.lines.indexOf(pinned.line) : -1;
      let best = null;
      this.lines.forEach(function (line, place) {
        if (!line.row || (this.workOnly && !line.group.gpu && data.names[line.row.name[0]].kind !== 5)) return;
        const row = line.row;
        const step = backwards ? -1 : 1;
        // Of pieces that begin together the upper one comes first.
        let i = backwards ? row.firstFrom(place < order ? from + 1e-3 : from) - 1 : row.firstFrom(place > order ? from : from + 1e-3);
        while (i >= 0 && i < row.count && !matches[row.name[i]]) i += step;
        if (i < 0 || i >= row.count) return;
        if (!best || (backwards ? row.start[i] >= best.line.row.start[best.place] : row.start[i] < best.line.row.start[best.place]))
          best = { line: line, place: i };
      }, this);
      return best;
    }
  }

  timeline.View = View;
})();
