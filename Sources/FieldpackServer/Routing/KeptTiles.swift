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
    /// Empty for a tile without features or without a picture.
    var bytes: [UInt8]
    /// The bytes as gzip, once a client has asked for them; `nil` for short tiles and for pictures.
    var packed: [UInt8]?

    /// The bytes in memory, with about 300 for the key.
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
      // One large tile must not remove all others.
      guard tile.size <= mostBytes / 4 else { return }
      if let old = state.tiles[key]?.tile {
        guard old.packed == nil else { return }
        state.size -= old.size
        state.tiles[key] = nil
      }
      if state.size + tile.size > mostBytes { Self.shrink(&state, to: mostBytes * 3 / 4) }
      state.uses += 1
      state.tiles[key] = (tile, state.uses)
      state.size += tile.size
    }
  }

  /// Removes the least recently used tiles: many at once, so that the sorting is rare.
  private static func shrink(_ state: inout State, to size: Int) {
    for (key, entry) in state.tiles.sorted(by: { $0.value.used < $1.value.used })
    where state.size > size {
      state.tiles[key] = nil
      state.size -= entry.tile.size
    }
  }

  /// The bytes of all tiles.
  var size: Int { state.withLock { $0.size } }
}
