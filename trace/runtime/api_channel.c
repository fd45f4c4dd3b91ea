#include "api.h"

/*
 * Needs no device: programs build descriptions of channels even where they use no texture. Its
 * header leaves the visibility to the compiler's default.
 */
UM_API hipChannelFormatDesc hipCreateChannelDesc(int, int, int, int, hipChannelFormatKind);
hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind)
{
	return (hipChannelFormatDesc){x, y, z, w, kind};
}
