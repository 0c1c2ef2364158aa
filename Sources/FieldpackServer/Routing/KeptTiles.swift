import FieldpackCore
import FieldpackGeoPackage

/// Tiles that were made lately, up to a number of bytes; those that nobody asked for longest go first.
final class KeptTiles: Sendable {
  struct Key: Hashable {
    /// The layers in the tile.
    var layers: [LayerID]
    /// `nil` for all.
    var properties: [String]?
    /// The grid of a picture; `nil` for a vector tile.
    var set: String?
    var address: TileAddress
    /// What tells a change of the layers.
    var counter: String
  }

  struct Tile: Hashable {
    /// `nil` for what is not known.
    var type: String?
    /// None where there is nothing.
    var bytes: [UInt8]
    /// The bytes as gzip; `nil` where that is of no use.
    var packed: [UInt8]?

    /// What it takes, with about as much as its key does.
    fileprivate var size: Int { bytes.count + (packed?.count ?? 0) + 300 }
  }

  private struct State {
    var tiles: [Key: (tile: Tile, used: Int)] = [:]
    var size = 0
    var uses = 0
  }

  private let mostBytes: Int
  private let state = Locked(State())

  init(mostBytes: Int = 64 << 20) { self.mostBytes = mostBytes }

  subscript(key: Key) -> Tile? {
    state.withLock { state in
      guard let found = state.tiles[key] else { return nil }
      state.uses += 1
      state.tiles[key]?.used = state.uses
      return found.tile
    }
  }

  func keep(_ tile: Tile, for key: Key) {
    state.withLock { state in
      // One tile is not to drive all others out.
      guard tile.size <= mostBytes / 4, state.tiles[key] == nil else { return }
      if state.size + tile.size > mostBytes { Self.leaveOut(&state, downTo: mostBytes * 3 / 4) }
      state.uses += 1
      state.tiles[key] = (tile, state.uses)
      state.size += tile.size
    }
  }

  /// A quarter goes at once, so that the sorting is rare.
  private static func leaveOut(_ state: inout State, downTo size: Int) {
    for (key, entry) in state.tiles.sorted(by: { $0.value.used < $1.value.used })
    where state.size > size {
      state.tiles[key] = nil
      state.size -= entry.tile.size
    }
  }

  /// The bytes of all tiles.
  var size: Int { state.withLock { $0.size } }
}
