import FieldpackCore
import FieldpackGeoPackage

/// Tiles that were made lately, up to a number of bytes; the least recently used tiles are removed first.
final class KeptTiles: Sendable {
  struct Key: Hashable {
    /// The layers in the tile.
    var layers: [LayerID]
    /// `nil` for all.
    var properties: [String]?
    /// The grid of a picture; `nil` for a vector tile.
    var set: String?
    var address: TileAddress
    /// The text of ``ServedStore/counter(of:)``.
    var counter: String
  }

  struct Tile: Hashable {
    /// The media type; `nil` where it is not known.
    var type: String?
    /// Empty for a tile without features or without a picture; `nil` where only the packed bytes are kept.
    var bytes: [UInt8]?
    /// The bytes as gzip, once a client has asked for them; `nil` for short tiles and for pictures.
    var packed: [UInt8]?

    /// What a client gets; `nil` where the tile is not kept in that form.
    func body(asGzip takesGzip: Bool) -> (bytes: [UInt8], isPacked: Bool)? {
      if takesGzip, let packed { return (packed, true) }
      guard let bytes, !takesGzip || bytes.count < ContentCoding.shortest else { return nil }
      return (bytes, false)
    }

    /// The bytes in memory, with about 300 for the key.
    fileprivate var size: Int { (bytes?.count ?? 0) + (packed?.count ?? 0) + 300 }
  }

  private struct State {
    var tiles: [Key: (tile: Tile, used: Int)] = [:]
    /// The newest counter of these layers, and the turn in which it was asked for.
    var counters: [[LayerID]: (text: String, turn: Int)] = [:]
    var size = 0
    var uses = 0

    mutating func remove(_ key: Key) {
      if let old = tiles.removeValue(forKey: key) { size -= old.tile.size }
    }

    /// Removes the tiles of another state of the layers than the given one, which nobody will ask for.
    ///
    /// - Returns: whether the counter is the newest.
    mutating func removeOld(of layers: [LayerID], before counter: String, in turn: Int) -> Bool {
      guard let known = counters[layers], known.text != counter else {
        counters[layers] = (counter, max(turn, counters[layers]?.turn ?? 0))
        return true
      }
      guard turn > known.turn else { return false }
      counters[layers] = (counter, turn)
      for old in tiles.keys where old.layers == layers && old.counter != counter { remove(old) }
      return true
    }

    /// Removes the least recently used tiles: many at once, so that the sorting is rare.
    mutating func shrink(to size: Int) {
      for (key, _) in tiles.sorted(by: { $0.value.used < $1.value.used }) where self.size > size {
        remove(key)
      }
    }
  }

  private let mostBytes: Int
  private let state = Locked(State())

  init(mostBytes: Int = 16 << 20) { self.mostBytes = mostBytes }

  subscript(key: Key) -> Tile? {
    state.withLock { state in
      guard let found = state.tiles[key] else { return nil }
      state.uses += 1
      state.tiles[key]?.used = state.uses
      return found.tile
    }
  }

  /// The turn of a request that has yet to ask for its counter. Of two counters the one that was asked for
  /// in the later turn is nearly always the newer one; where it is not, newer tiles are made again.
  func takeTurn() -> Int {
    state.withLock { state in
      state.uses += 1
      return state.uses
    }
  }

  /// Keeps a tile, in place of the one that is kept for the same key. A tile that was asked for before its
  /// layers changed, and took long to make, is not kept.
  func keep(_ tile: Tile, for key: Key, in turn: Int) {
    state.withLock { state in
      guard state.removeOld(of: key.layers, before: key.counter, in: turn) else { return }
      // One large tile must not remove all others.
      guard tile.size <= mostBytes / 4 else { return }
      state.remove(key)
      if state.size + tile.size > mostBytes { state.shrink(to: mostBytes * 3 / 4) }
      state.uses += 1
      state.tiles[key] = (tile, state.uses)
      state.size += tile.size
    }
  }

  /// The layers that tiles are kept of.
  var layers: Set<[LayerID]> { state.withLock { Set($0.tiles.keys.map(\.layers)) } }

  /// Removes the tiles of an earlier state of the layers than that with the counter.
  func forget(_ layers: [LayerID], before counter: String, in turn: Int) {
    state.withLock { _ = $0.removeOld(of: layers, before: counter, in: turn) }
  }

  /// The bytes of all tiles.
  var size: Int { state.withLock { $0.size } }
}
