import CMemory

/// The memory of a process that only serves.
package enum ServerMemory {
  /// Has the C library keep little memory that nobody uses. To be called before the process has many
  /// threads.
  package static func spare() { fieldpack_spare_memory() }

  /// Gives memory that nobody uses back to the system.
  static func giveBack() { fieldpack_give_back_memory() }
}
