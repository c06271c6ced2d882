// Unpacks the events of a timeline: the layout is described in src/trace/export/page_timeline.hpp.
(function () {
  'use strict';
  const canvas = window.ridgelineCanvas;
  const kBlock = 64;   // pieces of work whose times are summed beforehand, for views of very many
  const kNamed = 8;    // classes with a colour of their own
  // Places of the classes of work.
  const kOther = kNamed, kCopy = kNamed + 1, kSet = kNamed + 2, kModule = kNamed + 3, kOperation = kNamed + 4, kNode = kNamed + 5;
  const kDim = kNamed + 6;
  const kClasses = kNamed + 7;
  const kFixed = [kOther, kCopy, kSet, kModule, kOperation, kNode];   // by the kind of a name

  function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64);
    const out = new Uint8Array(text.length);
    for (let i = 0; i < out.length; ++i) out[i] = text.charCodeAt(i);
    return out;
  }

  async function inflated(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // LEB128 into all of `out`.
  function readNumbers(bytes, at, out) {
    for (let i = 0; i < out.length; ++i) {
      let value = bytes[at++];
      if (value > 127) {
        value &= 127;
        for (let scale = 128; ; scale *= 128) {
          const byte = bytes[at++];
          value += (byte & 127) * scale;
          if (byte < 128) break;
        }
      }
      out[i] = value;
    }
    return out;
  }

  // Zigzag differences to sums.
  function sumUp(numbers) {
    let sum = 0;
    for (let i = 0; i < numbers.length; ++i) {
      const value = numbers[i];
      sum += value % 2 ? -(value + 1) / 2 : value / 2;
      numbers[i] = sum;
    }
    return numbers;
  }

  // Pieces of work of which no two overlap, by time. Only what is drawn is read at once.
  class Row {
    constructor(bytes, at, layout) {
      this.bytes = bytes;
      this.count = layout[0];
      this.offsets = [];
      for (let i = 1; i < layout.length; ++i) {
        this.offsets.push(at);
        at += layout[i];
      }
      this.after = at;
      this.start = readNumbers(bytes, this.offsets[0], new Float64Array(this.count));
      this.end = readNumbers(bytes, this.offsets[1], new Float64Array(this.count));
      this.name = readNumbers(bytes, this.offsets[2], new Uint32Array(this.count));
      let end = 0;
      for (let i = 0; i < this.count; ++i) {
        this.start[i] += end;
        this.end[i] += this.start[i];
        end = this.end[i];
      }
      this.classes = new Uint8Array(this.count);
      this.sums = new Float32Array(Math.floor(this.count / kBlock) * kClasses);
    }
    get details() {
      return this.read ??= readNumbers(this.bytes, this.offsets[3], new Float64Array(this.count));
    }
    get modules() {
      return this.placed ??= sumUp(readNumbers(this.bytes, this.offsets[4], new Float64Array(this.count)));
    }
    get steps() {
      return this.stepped ??= sumUp(readNumbers(this.bytes, this.offsets[5], new Float64Array(this.count)));
    }
    // The first that ends after a moment.
    firstAfter(time) {
      let low = 0;
      let high = this.count;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.end[middle] > time) high = middle;
        else low = middle + 1;
      }
      return low;
    }
    // The first that begins at a moment or later.
    firstFrom(time) {
      let low = 0;
      let high = this.count;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.start[middle] >= time) high = middle;
        else low = middle + 1;
      }
      return low;
    }
    // `classOf`: of a piece by its place.
    classify(classOf) {
      this.sums.fill(0);
      for (let i = 0; i < this.count; ++i) {
        const of = classOf(i);
        this.classes[i] = of;
        const at = ((i / kBlock) | 0) * kClasses + of;
        if (at < this.sums.length) this.sums[at] += this.end[i] - this.start[i] || 1e-3;
      }
    }
  }

  class Timeline {
    constructor(bytes) {
      const size = new DataView(bytes.buffer).getUint32(0, true);
      const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
      this.span = Math.max(1, header.span_ns);
      this.names = header.names.map(function (name) {
        return { kind: name[0], text: name[1], short: name[0] === 0 ? canvas.label(name[1]) : name[1], calls: 0, time: 0 };
      });
      this.modules = header.modules;
      this.shapes = header.shapes;
      this.steps = header.steps;
      this.levels = header.levels;
      this.hiddenLevels = header.hidden_levels;
      let at = 4 + size;
      const names = this.names;
      this.groups = header.groups.map(function (group) {
        return {
          title: group.title, gpu: group.gpu,
          rows: group.rows.map(function (layout) {
            const row = new Row(bytes, at, layout);
            at = row.after;
            for (let i = 0; i < row.count; ++i) {
              const name = names[row.name[i]];
              ++name.calls;
              name.time += row.end[i] - row.start[i];
            }
            return row;
          })
        };
      });
      this.rows = this.groups.flatMap(function (group) { return group.rows; });
      this.workTime = this.names.reduce(function (sum, name) { return sum + (Timeline.isWork(name) ? name.time : 0); }, 0);
    }
    static isWork(name) {
      return name.kind < 3 || name.kind === 5;
    }

    pathOf(module) {
      const parts = [];
      for (let at = module - 1; at > 0; at = this.modules[at][0]) parts.unshift(this.modules[at][1]);
      return parts.join('/');
    }

    // The names whose time is longest, with what else there is: [{title, time, search}], a title a class.
    classifyByName() {
      const kernels = this.names.filter(function (name) { return name.kind === 0; });
      kernels.sort(function (a, b) { return b.time - a.time; });
      const few = kernels.length <= kNamed;
      const named = new Map(kernels.slice(0, few ? kNamed : kNamed - 1).map(function (name, place) { return [name, place]; }));
      const titles = [];
      const ofName = this.names.map(function (name) {
        const place = named.get(name);
        const of = place === undefined ? kFixed[name.kind] : place;
        const title = titles[of] ??= { title: ['other kernels', 'copies', 'sets', 'modules', 'operations', 'nodes'][name.kind], time: 0 };
        if (place !== undefined) Object.assign(title, { title: name.short, search: name.text });
        title.time += name.time;
        return of;
      });
      this.ofPiece = function (row, i) { return ofName[row.name[i]]; };
      return titles;
    }

    // By the class of the innermost module that work belongs to.
    classifyByModule() {
      const modules = this.modules;
      const titleOf = modules.map(function (module, place) {
        while (place > 0 && !modules[place][2]) place = modules[place][0];
        return place > 0 ? canvas.moduleClass(modules[place][1]) : '';
      });
      const times = new Map();
      this.rows.forEach(function (row, place) {
        for (let i = 0; i < row.count; ++i) {
          const title = row.modules[i] > 0 ? titleOf[row.modules[i] - 1] : '';
          times.set(title, (times.get(title) || 0) + (this.isOfGpu[place] ? row.end[i] - row.start[i] : 0));
        }
      }, this);
      const longest = Array.from(times.keys()).filter(Boolean).sort(function (a, b) { return times.get(b) - times.get(a); });
      const named = new Map(longest.slice(0, longest.length <= kNamed ? kNamed : kNamed - 1).map(function (title, place) { return [title, place]; }));
      const titles = [];
      const ofModule = titleOf.map(function (title) { return named.has(title) ? named.get(title) : kOther; });
      named.forEach(function (place, title) { titles[place] = { title: title.replace(/[#._\- ]+$/, '') || title, time: times.get(title) }; });
      times.forEach(function (time, title) {
        if (named.has(title)) return;
        const other = titles[kOther] ??= { title: 'elsewhere', time: 0 };
        other.time += time;
      });
      this.ofPiece = function (row, i) { return row.modules[i] > 0 ? ofModule[row.modules[i] - 1] : kOther; };
      return titles;
    }

    get isOfGpu() {
      return this.gpuRows ??= this.groups.flatMap(function (group) { return group.rows.map(function () { return group.gpu; }); });
    }

    // Classes of all pieces; those whose name does not match are dimmed.
    apply(matches) {
      const ofPiece = this.ofPiece;
      this.rows.forEach(function (row) {
        row.classify(matches ? function (i) { return matches[row.name[i]] ? ofPiece(row, i) : kDim; }
          : function (i) { return ofPiece(row, i); });
      });
    }
  }

  window.ridgelineTimeline = {
    Timeline: Timeline, kBlock: kBlock, kNamed: kNamed, kClasses: kClasses, kDim: kDim, kModule: kModule, kOperation: kOperation,
    unpack: async function (base64) { return new Timeline(await inflated(bytesOf(base64))); },
    colourNames: ['1', '2', '3', '4', '5', '6', '7', '8', 'other', 'copy', 'set', 'module', 'operation', 'node', 'dim']
  };
})();
